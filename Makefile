# DistRL: every command a person or the CI runs. `make` alone lists them.
# Each target makes its own .venv first when there is none, or when pyproject.toml or
# constraints.txt have changed since. PYTHON=python3.12 picks another interpreter for it,
# ARGS="…" is handed on to the command behind the target.

PYTHON ?= python3
VENV   ?= .venv
ARGS   ?=
TRAINER_PYTHON ?= python3.12

BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed

# Where this variable is set nothing is ever compiled, and every process that starts pays for it.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help train test test-phone test-all test-ray test-machines test-browser check format phone pictures bench-phone bench-phones bench-quick-start bench-starter bench-smollm bench-policy bench-learner bench-replay bench-store bench-staleness bench-environment bench-async bench-time-to-success bench-gpu-run bench-plan bench-cluster chaos bench-join bench-view fuzz chaos-quality soak bench-judge-noise bench-adb bench-adb-training bench-adb-circle bench-api clean

help: ## List the targets
	@echo "DistRL. Targets, each with its own set-up:"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo 'Hand on more with ARGS, e.g.  make test ARGS="-k notes"'

train: $(STAMP) ## Train an agent on the simulated phone
	@echo "→ distrl train quick_start $(ARGS)"
	@$(BIN)/distrl train quick_start $(ARGS)

test: $(STAMP) ## Run all but the slow tests, two at a time (5 min on two cores)
	@echo "→ pytest -m 'not slow'"
	@$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" $(ARGS)

test-phone: $(STAMP) ## Run the tests of the simulated phone alone
	@echo "→ pytest tests/phonesim"
	@$(BIN)/python -m pytest -n 2 --dist worksteal tests/phonesim $(ARGS)

test-all: $(STAMP) ## Run every test, with every seed of every task
	@echo "→ pytest --all-seeds"
	@$(BIN)/python -m pytest -n 2 --dist worksteal --all-seeds $(ARGS)

test-ray: $(STAMP) ## Run the tests on a real Ray cluster on this machine, one at a time
	@echo "→ pytest -m ray"
	@$(BIN)/python -m pytest -m ray tests/engine/ray tests/test_api.py tests/test_plugins.py tests/test_examples.py $(ARGS)

test-machines: $(STAMP) ## Cut links between three hosts (namespaces; needs root); writes results/machines.json; ARGS="-m machines": cuts of 5 min, too; ARGS="-m slow --keep-results": those alone
	@echo "→ pytest -m machines"
	@$(BIN)/python -m pytest -m "machines and not slow" --write-results tests/machines $(ARGS)

test-browser: $(STAMP) ## Run the tests in a headless Chromium: the page of distrl view, browser devices, MiniWoB
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e ".[browser]" \
		|| echo "→ playwright cannot be installed here; the tests will say so"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt --no-deps miniwob \
		|| echo "→ miniwob cannot be installed here; its tests will say so"
	@command -v chromium-headless-shell chromium >/dev/null || echo "→ no chromium here: install it, or CHROMIUM=/path/to/chrome make test-browser"
	@echo "→ pytest -m browser"
	@$(BIN)/python -m pytest -m browser tests/view tests/devices/browser tests/task_sets tests/engine/test_browser_wiring.py tests/engine/test_web_task_runs.py \
		tests/engine/test_environment.py tests/engine/test_mixed_runs.py tests/cli/test_play.py tests/cli/test_evaluate.py \
		tests/benchmarks/test_miniwob.py $(ARGS)

.PHONY: test-trainers
test-trainers: ## The phone in OpenEnv, verifiers, CUBE and TRL, each in an environment of its own (TRAINER_PYTHON=python3.12)
	@for each in openenv verifiers cube,learn trl; do \
		echo "→ $$each"; venv=.venv-$${each%%,*}; \
		$(TRAINER_PYTHON) -m venv $$venv && $$venv/bin/pip install -q --pre pytest pytest-timeout hypothesis uv -e ".[$$each]" \
			&& $$venv/bin/python -m pytest -q -p no:cacheprovider tests/environments $(ARGS) || exit 1; \
	done

check: $(STAMP) ## Format, lint, types and architecture: what must hold before every commit
	@echo "→ format"
	@$(BIN)/ruff format --check .
	@echo "→ lint"
	@$(BIN)/ruff check .
	@echo "→ types"
	@$(BIN)/mypy
	@echo "→ architecture"
	@$(BIN)/python -m pytest -q tests/test_architecture.py tests/test_readme_tree.py

format: $(STAMP) ## Rewrite the code in the house format and sort its imports
	@$(BIN)/ruff check --select I --fix --quiet .
	@$(BIN)/ruff format .

phone: $(STAMP) ## Draw a sheet of screens of the simulated phone
	@echo "→ distrl phone sheet $(ARGS)"
	@$(BIN)/distrl phone sheet $(ARGS)

SHEET := $(BIN)/distrl phone sheet

pictures: $(STAMP) ## Draw every picture of the phone in README and docs anew (2 min)
	@$(BIN)/distrl phone play messages.send_number/train/1 shopping.buy_express/train/0 \
		calendar.move/train/1 --out docs/pictures/tasks.gif
	@$(SHEET) apps --seed 5 --out docs/pictures/apps.png
	@$(SHEET) everyday --seed 36 --out docs/pictures/everyday.png
	@for each in German Spanish Chinese; do \
		$(SHEET) everyday --seed 36 --language $$each \
			--out docs/pictures/everyday-$$(echo $$each | tr GSC gsc).png || exit 1; \
	done
	@for each in Chat Wallet Travel Feed Food; do \
		$(SHEET) everyday-densities --seed 36 --app $$each \
			--out docs/pictures/everyday-density-$$(echo $$each | tr CWTF cwtf).png || exit 1; \
	done
	@for each in densities screens languages scripts; do \
		$(SHEET) $$each --seed 36 --out docs/pictures/phone-$$each.png || exit 1; \
	done

bench-phone: $(STAMP) ## Measure the phone; writes benchmarks/results/phone.json
	@echo "→ benchmarks/phone.py"
	@$(BIN)/python -m benchmarks.phone $(ARGS)

bench-phones: $(STAMP) ## How many phones fit on one machine (30 min); writes results/phones.json
	@echo "→ benchmarks/phones.py"
	@$(BIN)/python -m benchmarks.phones $(ARGS)

bench-quick-start: $(STAMP) ## Three seeds of `make train` (20 quiet minutes); writes results/quick-start.json
	@echo "→ benchmarks/learning_seeds.py quick_start"
	@$(BIN)/python -m benchmarks.learning_seeds quick_start $(ARGS)

bench-starter: $(STAMP) ## How good the starter is on unseen tasks (20 min on two cores); writes results/starter.json
	@echo "→ benchmarks/starter.py"
	@$(BIN)/python -m benchmarks.starter $(ARGS)

.PHONY: bench-starter-sizes
bench-starter-sizes: $(STAMP) ## The same unseen tasks on screens of other sizes (15 min on two cores); writes results/starter-sizes.json
	@echo "→ benchmarks/starter_sizes.py"
	@$(BIN)/python -m benchmarks.starter_sizes $(ARGS)

.PHONY: bench-wordings
bench-wordings: $(STAMP) ## The same unseen tasks in words that nobody demonstrated (15 min of a core); writes results/wordings.json
	@echo "→ benchmarks/wordings.py"
	@$(BIN)/python -m benchmarks.wordings $(ARGS)

bench-smollm: $(STAMP) ## A pretrained language model, taught and trained by reward; needs ARGS (benchmarks/smollm.py says which)
	@echo "→ benchmarks/smollm.py"
	@$(BIN)/python -m benchmarks.smollm $(ARGS)

bench-policy: $(STAMP) ## Measure decisions per second; writes benchmarks/results/policy.json
	@echo "→ benchmarks/policy.py"
	@$(BIN)/python -m benchmarks.policy $(ARGS)

.PHONY: bench-shared-prefix
bench-shared-prefix: $(STAMP) ## What reading the system prompt once is worth on a CPU (1 min); writes results/shared-prefix.json
	@echo "→ benchmarks/shared_prefix.py"
	@$(BIN)/python -m benchmarks.shared_prefix $(ARGS)

bench-learner: $(STAMP) ## Measure the learner's steps; writes benchmarks/results/learner.json
	@echo "→ benchmarks/learner.py"
	@$(BIN)/python -m benchmarks.learner $(ARGS)

bench-replay: $(STAMP) ## Measure the replay beside others; writes benchmarks/results/replay.json
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt cpprb \
		|| echo "→ cpprb cannot be installed here; the table will say so"
	@echo "→ benchmarks/replay.py"
	@$(BIN)/python -m benchmarks.replay $(ARGS)

bench-store: $(STAMP) ## Measure durable appends (ARGS="--old DIR" beside another checkout); writes results/store.json
	@echo "→ benchmarks/store.py"
	@$(BIN)/python -m benchmarks.store $(ARGS)

bench-staleness: $(STAMP) ## What old data costs each algorithm; writes results/staleness.json
	@echo "→ benchmarks/staleness.py"
	@$(BIN)/python -m benchmarks.staleness $(ARGS)

bench-environment: $(STAMP) ## What a process's environment is worth; writes results/environment.json
	@echo "→ benchmarks/process_environment.py"
	@$(BIN)/python -m benchmarks.process_environment $(ARGS)

bench-async: $(STAMP) ## What is gained when nobody waits; writes results/async.json
	@echo "→ benchmarks/async_collection.py"
	@$(BIN)/python -m benchmarks.async_collection $(ARGS)

.PHONY: bench-critic bench-forks bench-paper bench-paper-small bench-undemonstrated
bench-critic: $(STAMP) ## What a critic must read (ARGS="--collect 600" first, 15 min); writes results/critic.json
	@echo "→ benchmarks/critic.py"
	@$(BIN)/python -m benchmarks.critic $(ARGS)

bench-forks: $(STAMP) ## Forks and their rivals beside the critic alone (10 min); writes results/forks.json
	@echo "→ benchmarks/forks.py"
	@$(BIN)/python -m benchmarks.forks $(ARGS)

bench-paper: $(STAMP) ## The paper's table on the phone (GPU; ARGS="--tune" first, then "--tuned benchmarks/results/paper-tuned.json --at-once 2"); writes results/paper.json
	@echo "→ benchmarks/paper.py"
	@$(BIN)/python -m benchmarks.paper $(ARGS)

bench-paper-small: $(STAMP) ## The same arms on the quick start's tasks, without a GPU (24 runs of 500 s and evaluations; ARGS="--seeds 0 --arms distrl"); writes results/paper-small.json
	@echo "→ benchmarks/paper.py --small"
	@$(BIN)/python -m benchmarks.paper --small $(ARGS)

bench-undemonstrated: $(STAMP) ## What reward alone teaches, three seeds (GPU, 18 min each and evaluations); writes results/undemonstrated.json
	@echo "→ benchmarks/undemonstrated.py"
	@$(BIN)/python -m benchmarks.undemonstrated $(ARGS)

bench-time-to-success: $(STAMP) ## How much sooner success is there (2 min); writes results/time-to-success.json
	@echo "→ benchmarks/time_to_success.py"
	@$(BIN)/python -m benchmarks.time_to_success $(ARGS)

bench-gpu-run: $(STAMP) ## Measure a whole run on a GPU (2 min); writes results/gpu-run.json
	@echo "→ benchmarks/gpu_run.py"
	@$(BIN)/python -m benchmarks.gpu_run $(ARGS)

bench-plan: $(STAMP) ## Hold `distrl plan` against real runs (6 min); writes results/plan.json
	@echo "→ benchmarks/plan.py"
	@$(BIN)/python -m benchmarks.plan $(ARGS)

bench-cluster: $(STAMP) ## What a cluster costs, and how far it scales (20 min); writes results/cluster.json
	@echo "→ benchmarks/cluster.py"
	@$(BIN)/python -m benchmarks.cluster $(ARGS)

bench-join: $(STAMP) ## Joined collectors: throughput, cuts, 1,000 joins, 100,000 hostile requests (15 min); writes results/join.json
	@echo "→ benchmarks/join.py"
	@$(BIN)/python -m benchmarks.join $(ARGS)

bench-view: $(STAMP) ## The page: 256 phones, 10,000 episodes, what it costs (12 min); writes results/view.json
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e ".[browser]"
	@echo "→ benchmarks/view.py"
	@$(BIN)/python -m benchmarks.view $(ARGS)

chaos: $(STAMP) ## 1,000 kills, torn files, a full disk: nothing may be lost; writes results/chaos.json
	@echo "→ benchmarks/chaos.py"
	@$(BIN)/python -m benchmarks.chaos $(ARGS)

fuzz: $(STAMP) ## A million broken inputs for every reader of bytes (20 min); writes results/fuzz.json
	@echo "→ benchmarks/fuzz.py"
	@$(BIN)/python -m benchmarks.fuzz $(ARGS)

chaos-quality: $(STAMP) ## Is a run that is killed as good in the end? (15 min); writes results/chaos-quality.json
	@echo "→ benchmarks/chaos_quality.py"
	@$(BIN)/python -m benchmarks.chaos_quality $(ARGS)

soak: $(STAMP) ## An hour with 2 % faults and nothing growing; writes results/soak.json
	@echo "→ benchmarks/soak.py"
	@$(BIN)/python -m benchmarks.soak $(ARGS)

bench-judge-noise: $(STAMP) ## What a judge's errors cost (2½ min of a core); writes results/judge-noise.json
	@echo "→ benchmarks/judge_noise.py"
	@$(BIN)/python -m benchmarks.judge_noise $(ARGS)

bench-adb: $(STAMP) ## Measure operations over adb beside other clients; writes results/adb.json
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt adb-shell \
		|| echo "→ adb-shell cannot be installed here; the table will say so"
	@echo "→ benchmarks/adb.py"
	@$(BIN)/python -m benchmarks.adb $(ARGS)

bench-adb-training: $(STAMP) ## Train with and without adb and compare; writes results/adb-training.json
	@echo "→ benchmarks/adb_training.py"
	@$(BIN)/python -m benchmarks.adb_training $(ARGS)

bench-adb-circle: $(STAMP) ## The quick start through adb and without (10 min); writes results/adb-circle.json
	@echo "→ benchmarks/adb_circle.py"
	@$(BIN)/python -m benchmarks.adb_circle $(ARGS)

.PHONY: docs
docs: $(STAMP) ## Build the documentation as a site, without a warning; out/site/index.html
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e ".[docs]"
	@echo "→ mkdocs build --strict"
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet $(ARGS)
	@echo "out/site/index.html"

.PHONY: bench-clean-install
bench-clean-install: $(STAMP) ## The wheel alone in clean environments (10 min); ARGS="--folder DIR --python python3.11 --bare python3.13"; writes results/clean-install.json
	@echo "→ benchmarks/clean_install.py"
	@$(BIN)/python -m benchmarks.clean_install $(ARGS)

bench-api: $(STAMP) ## Count the public names, time `import distrl`; writes results/api.json
	@echo "→ benchmarks/api.py"
	@$(BIN)/python -m benchmarks.api $(ARGS)

.PHONY: bench-devices
bench-devices: $(STAMP) ## One policy on the phone, over adb and on web pages, in one table (10 min); writes results/devices.json
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt --no-deps miniwob
	@echo "→ benchmarks/devices.py"
	@$(BIN)/python -m benchmarks.devices $(ARGS)

.PHONY: bench-browser bench-miniwob bench-miniwob-reward
bench-browser: $(STAMP) ## Web pages: a step beside Playwright's, memory, 10,000 random actions, kills (15 min); writes results/browser.json
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt playwright
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt --no-deps miniwob
	@echo "→ benchmarks/browser.py"
	@$(BIN)/python -m benchmarks.browser $(ARGS)

bench-miniwob: $(STAMP) ## MiniWoB's pages: which load, and which can be done (10 min); writes results/miniwob.json
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt --no-deps miniwob
	@echo "→ benchmarks/miniwob.py"
	@$(BIN)/python -m benchmarks.miniwob $(ARGS)

.PHONY: bench-mobilegym
bench-mobilegym: $(STAMP) ## MobileGym's phone beside ours; MOBILEGYM names a built checkout of it (6 min); writes results/mobilegym.json
	@echo "→ benchmarks/mobilegym.py"
	@$(BIN)/python -m benchmarks.mobilegym $(ARGS)

bench-miniwob-reward: $(STAMP) ## Three seeds of `distrl train miniwob` (50 minutes); into results/miniwob.json
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt --no-deps miniwob
	@echo "→ benchmarks/learning_seeds.py miniwob"
	@$(BIN)/python -m benchmarks.learning_seeds miniwob $(ARGS)

clean: ## Remove .venv, caches and build leftovers; runs and results stay
	@echo "→ removing $(VENV), caches and build leftovers"
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist src/*.egg-info
	@find src tests benchmarks -type d -name __pycache__ -prune -exec rm -rf {} +

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "DistRL needs Python 3.11 or newer, and '$(PYTHON)' is" \
			"$$($(PYTHON) --version 2>&1 | head -n 1). Name another one: make PYTHON=python3.12 …" >&2; \
		exit 1; }
	@test -x $(BIN)/python || { echo "→ making $(VENV) with $$($(PYTHON) --version)"; \
		$(PYTHON) -m venv $(VENV); }
	@echo "→ installing DistRL and its tools into $(VENV) (a minute the first time)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check \
		-c constraints.txt -e ".[dev,gym,learn,data,served,android,android-env,ray,join,view,world]"
	@touch $@
