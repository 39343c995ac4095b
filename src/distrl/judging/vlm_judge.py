"""A vision-language model as judge, behind any OpenAI-compatible endpoint (cloud, vLLM, SGLang).

It sees the last screens and actions of a finished trajectory (`judge_prompt`) and decides whether
the task was done. It promises:

- Each question is asked once: verdicts are cached by the whole request, the model and the prompt.
- Rate and cost are limited by a `RateBudget`; transient errors are retried (`chat.chat_server`).
- No verdict is made up. Any failure (no answer, a refusal, an answer that cannot be parsed even
  after retries) raises `JudgeError`, and the trajectory stays without a verdict.
- Every verdict names its judge, `vlm/MODEL/PROMPT-HASH`; the judgement has its time and cost.

The API key is read only from the environment (`ServerSettings.key_variable`). The judge is
thread-safe; `judge_thread_pool` calls it, so that devices never wait for it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Self

from distrl.bounds import Bounds, Checked, Meaning
from distrl.chat.chat_server import ChatServer, PictureUrls, ServerSettings
from distrl.errors import ChatServerError, JudgeError, storage_error
from distrl.json_lines import decode_line, encode_line
from distrl.judging.judge import Judgement
from distrl.judging.judge_prompt import Case, JudgePrompt, read_verdict
from distrl.judging.rate_budget import BudgetSettings, RateBudget
from distrl.records import Screen, Trajectory, Verdict

log = logging.getLogger(__name__)

KEY_VARIABLE = "DISTRL_JUDGE_KEY"
PROMPT, ANSWER = "prompt_tokens", "completion_tokens"  # keys in the server's usage report
RETRY_TEMPERATURE = 0.7  # greedy decoding would repeat an unreadable answer


@dataclass(frozen=True, slots=True)
class VlmJudgeSettings(Checked):
    """Server and model, the limits of requests, and prices."""

    server: ServerSettings
    model: Annotated[str, Meaning("the model that the server is to ask", ".+")]
    answer_tokens: Annotated[int, Bounds(1, unit="tokens at most")] = 512
    readings: Annotated[int, Bounds(1, unit="requests for an answer that can be read")] = 3
    picture_height: Annotated[int, Bounds(1, unit="pixels; larger screens are shrunk")] = 1280
    prompt_price: Annotated[float, Bounds(0.0, unit="per million tokens")] = 0.0
    answer_price: Annotated[float, Bounds(0.0, unit="per million tokens")] = 0.0
    budget: BudgetSettings = field(default_factory=BudgetSettings)


class VlmJudge:
    """Implements `TrajectoryJudge`; a context manager. `open` creates one from settings."""

    def __init__(
        self,
        settings: VlmJudgeSettings,
        server: ChatServer,
        prompt: JudgePrompt,
        cache: JudgeCache,
        budget: RateBudget,
    ) -> None:
        self.settings = settings
        self.prompt = prompt
        self.cache = cache
        self.budget = budget
        self._server = server
        self._pictures = PictureUrls()

    @classmethod
    def open(
        cls,
        settings: VlmJudgeSettings,
        prompt: JudgePrompt | None = None,
        cache: Path | None = None,
    ) -> Self:
        return cls(
            settings,
            ChatServer.open(settings.server),
            prompt or JudgePrompt(),
            JudgeCache(cache).open(),
            RateBudget(settings.budget),
        )

    def close(self) -> None:
        self.budget.close()
        self._server.close()
        self.cache.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def name(self) -> str:
        return f"vlm/{self.settings.model}/{self.prompt.hash}"

    def judge(self, trajectory: Trajectory) -> Judgement:
        case = self.prompt.case_of(trajectory)
        key = self.prompt.key_of(case)
        known = self.cache.find(key, self.name)
        if known is not None:
            return Judgement(known, cached=True)
        started, spent = time.monotonic(), Counter[str]()
        success, reason, reply = self._ask(trajectory.id, case, spent)
        verdict = Verdict(success, reason, self.name)
        self.cache.add(key, verdict, reply)
        return Judgement(
            verdict,
            seconds=time.monotonic() - started,
            cost=self._cost(spent),
            prompt_tokens=spent[PROMPT],
            answer_tokens=spent[ANSWER],
        )

    def _ask(self, name: str, case: Case, spent: Counter[str]) -> tuple[bool, str, str]:
        """Return success, reason, and the reply that they were parsed from."""
        messages = self.prompt.messages(case, self._picture_url)
        text = ""
        for reading in range(self.settings.readings):
            self.budget.take()
            try:
                answer = self._server.post("/chat/completions", self._request(messages, reading))
            except ChatServerError as error:
                raise JudgeError(f"no verdict on {name} by {self.name}: {error}") from error
            self._count(answer, spent)
            text = self._text(name, answer)
            said = read_verdict(text)
            if said is not None:
                return *said, text
        raise JudgeError(
            f"no verdict on {name} by {self.name}: {self.settings.readings} answers without a line "
            f"'Verdict: success' or 'Verdict: failure', the last one {text[-200:]!r}; raise "
            f"answer_tokens (now {self.settings.answer_tokens}) or take another model"
        )

    def _request(self, messages: list[dict[str, Any]], reading: int) -> dict[str, Any]:
        return {
            "model": self.settings.model,
            "messages": messages,
            "max_tokens": self.settings.answer_tokens,
            "temperature": RETRY_TEMPERATURE if reading else 0.0,
            "stream": False,
        }

    def _count(self, answer: dict[str, Any], spent: Counter[str]) -> None:
        """Add up tokens and cost; if the server reports no tokens, the request counts as free."""
        usage = answer.get("usage")
        counts = usage if isinstance(usage, dict) else {}
        tokens = {
            name: count
            for name in (PROMPT, ANSWER)
            if type(count := counts.get(name)) is int and 0 < count < 2**53
        }
        spent.update(tokens)
        self.budget.spend(self._cost(Counter(tokens)))

    def _cost(self, tokens: Counter[str]) -> float:
        prices = self.settings.prompt_price, self.settings.answer_price
        return (tokens[PROMPT] * prices[0] + tokens[ANSWER] * prices[1]) / 1e6

    def _text(self, name: str, answer: dict[str, Any]) -> str:
        """Return the text of the answer; raise on a refusal, since a retry will not help."""
        choices = answer.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise JudgeError(
                f"no verdict on {name} by {self.name}: an answer without choices: "
                f"{str(answer)[:300]}"
            )
        refusal = message.get("refusal")
        if refusal or choice.get("finish_reason") == "content_filter":
            raise JudgeError(
                f"no verdict on {name} by {self.name}: it refused "
                f"({_storable(str(refusal))[:300]}); another "
                "model may not, see `distrl rescore`"
            )
        text = message.get("content")
        return _storable(text) if isinstance(text, str) else ""

    def _picture_url(self, screen: Screen) -> str:
        height = min(screen.height, self.settings.picture_height)
        width = max(1, round(screen.width * height / screen.height))
        return self._pictures.url(screen, (width, height))


def _storable(text: str) -> str:
    """Replace lone surrogates, which JSON can escape but UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")


@dataclass(frozen=True, slots=True)
class _CachedVerdict:
    key: str
    judge: str
    success: bool
    reason: str
    reply: str = ""  # the model's whole reply, for people to read


class JudgeCache:
    """A cache of verdicts in a file, so that the same question is never paid for twice.

    Each verdict is a JSON line, appended by one write, so that several processes may share the file
    (a `LineLog` has one writer) and a killed process loses nothing. A line that cannot be parsed is
    skipped: the question is asked again. Keys are the hash of all messages (`JudgePrompt.key_of`)
    and the judge's name. A thread-safe context manager. Without a path it is only in memory.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.found = 0
        self.missed = 0
        self.unreadable = 0  # number of lines of the file that cannot be parsed
        self._verdicts: dict[tuple[str, str], Verdict] = {}
        self._file = -1
        self._lock = threading.Lock()

    def open(self) -> Self:
        if self.path is None:
            return self
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._file = os.open(self.path, flags, 0o644)
            self._read(self.path.read_bytes())
        except OSError as error:
            raise storage_error(error, f"opening the judge's cache {self.path}") from error
        return self

    def _read(self, content: bytes) -> None:
        if content and not content.endswith(b"\n"):
            os.write(self._file, b"\n")  # terminate a line that a killed process left incomplete
        for line in filter(None, content.splitlines()):
            try:
                row = decode_line(line, _CachedVerdict)
            except ValueError:
                self.unreadable += 1
            else:
                self._verdicts[row.key, row.judge] = Verdict(row.success, row.reason, row.judge)
        if self.unreadable:
            log.warning(
                "%d lines of the judge's cache %s cannot be read; what they answered is asked "
                "again", self.unreadable, self.path
            )  # fmt: skip

    def close(self) -> None:
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._verdicts)

    def find(self, key: str, judge: str) -> Verdict | None:
        with self._lock:
            verdict = self._verdicts.get((key, judge))
            self.found += verdict is not None
            self.missed += verdict is None
            return verdict

    def add(self, key: str, verdict: Verdict, reply: str = "") -> None:
        """Add a verdict. When this returns, it is written to the file: if this process is killed it
        is not lost (there is no fsync).
        """
        row = _CachedVerdict(key, verdict.judge, verdict.success, verdict.reason, reply)
        line = encode_line(row)
        with self._lock:
            self._verdicts[key, verdict.judge] = verdict
            if self._file < 0:
                return
            try:
                os.write(self._file, line)
            except OSError as error:
                raise storage_error(error, f"writing to the judge's cache {self.path}") from error


def read_reply(cache: Path, key: str, judge: str) -> str | None:
    """Return the model's whole reply for a cached verdict; None if there is none."""
    if not cache.is_file():
        return None
    for line in reversed(cache.read_bytes().splitlines()):
        if key.encode() in line:
            with contextlib.suppress(ValueError):
                row = decode_line(line, _CachedVerdict)
                if (row.key, row.judge) == (key, judge) and row.reply:
                    return row.reply
    return None
