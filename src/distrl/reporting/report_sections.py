"""The parts of the report, from top to bottom: each takes the story and gives a section."""

from __future__ import annotations

from collections.abc import Iterator

from distrl.config.training_config import load_config
from distrl.episodes.outcome import SuccessRate
from distrl.errors import DistrlError
from distrl.records import Ending
from distrl.reporting.live_view import duration
from distrl.reporting.next_commands import evaluation_words, resume_words
from distrl.reporting.page.bar_charts import Histogram, StackedBars, legend_entry
from distrl.reporting.page.frame import NARROW, Axis, Frame, both_sizes
from distrl.reporting.page.line_chart import Spot, banded_line, measurements
from distrl.reporting.page.markup import Markup, join, tag
from distrl.reporting.page.scale import short, time_unit
from distrl.reporting.page.small_chart import SmallChart
from distrl.reporting.page.storyboard import storyboard
from distrl.reporting.page.success_table import success_table
from distrl.reporting.page.timeline import Timeline
from distrl.reporting.run_story import RunStory
from distrl.runs.run_records import EvaluationLine, Series, Stage

HALF = 480  # a chart beside another one
STAGES: dict[Stage, str] = {
    "before": "Before training",
    "during": "During training",
    "after": "After training",
}
COURSES: tuple[tuple[Series, str, str, str], ...] = (
    ("learner", "loss/policy", "policy loss", "what the policy is pushed by"),
    ("learner", "loss/value", "value loss", "how wrong the critic is"),
    ("learner", "entropy", "entropy", "nats per token: how undecided the policy is"),
    ("learner", "value/calibration_error", "calibration error", "0: the critic means what it says"),
    ("learner", "gradient_norm/policy", "gradient norm", "of the policy, before clipping"),
    ("learner", "ratio/effective_sample_size", "effective samples", "turns that count, by ratios"),
    ("learner", "invalid_rate", "unreadable answers", "share of the turns in a batch"),
    ("learner", "staleness/mean", "staleness drawn", "versions, mean of a batch"),
    ("learner", "samples_per_insert", "samples per insert", "draws for each trajectory so far"),
    ("learner", "seconds/update", "update time", "seconds in forward and backward passes"),
    ("learner", "replay/trajectories", "replay", "trajectories in it"),
    ("collection", "queue", "queue", "trajectories that wait for the learner"),
)


def section(title: str, explained: str, *children: Markup) -> Markup:
    return tag("section", tag("h2", title), tag("p", explained), *children)


def _nothing(title: str, why: str) -> Markup:
    return tag("section", tag("h2", title), tag("p", why, class_="none"))


# The top -----------------------------------------------------------------------------------------


def headline(story: RunStory) -> Markup:
    """Before and after in large figures."""
    before, after = story.evaluation("before"), story.evaluation("after")
    if before is None or after is None:
        return _nothing(
            "No comparison yet", "It takes an evaluation before training and one after it."
        )
    figures = tag(
        "div",
        tag("i", f"{before.rate.rate:.0%}"),
        tag("span", "→"),
        tag("b", f"{after.rate.rate:.0%}"),
        class_="from-to",
    )
    gain = f"{100 * (after.rate.rate - before.rate.rate):+.0f}".replace("-", "−")
    told = (
        f"success on {after.rate.episodes} tasks of the split “{after.split}”, which training "
        f"never saw: {_interval(before.rate)} before and {_interval(after.rate)} after "
        f"{duration(story.seconds)} of training, a gain of {gain} points."
    )
    return tag("section", figures, tag("p", told), class_="hero")


def _interval(rate: SuccessRate) -> str:
    low, high = rate.interval
    return f"{low:.0%} to {high:.0%}"


def tiles(story: RunStory) -> Markup:
    count, seconds = len(story.episodes), story.seconds
    if not count or not seconds:
        return Markup("")
    timeline = Timeline(story.episodes, seconds)
    late = sum(episode.staleness for episode in story.episodes) / count
    faults = sum(not episode.judged for episode in story.episodes)
    updates = max((point.updates for point in story.points), default=0)
    shown = {
        "trajectories": f"{count:,}",
        "a minute": short(60.0 * count / seconds),
        f"of {len(timeline.devices)} devices in an episode": f"{timeline.busy_share:.1%}",
        "versions late, on average": f"{late:.1f}",
        "updates": f"{updates:,}",
        "of training": duration(seconds),
        "broken by the world": str(faults),
    }
    return tag(
        "ul", *(tag("li", tag("b", f), tag("span", n)) for n, f in shown.items()), class_="tiles"
    )


# Learning ----------------------------------------------------------------------------------------


def curve_section(story: RunStory) -> Markup:
    curve = story.success_curve()
    if not curve and not story.evaluations:
        return _nothing("Learning curve", "Too few episodes so far.")
    unit = time_unit(story.seconds)
    across = Axis(0.0, max(1e-9, story.seconds / unit.seconds), unit.name, short)
    training = [_spot(each.seconds / unit.seconds, each.rate) for each in curve]
    tests = [_spot(e.seconds / unit.seconds, e.rate) for e in story.evaluations if e.rate.episodes]

    def draw(width: int) -> Markup:
        frame = Frame(width, 320 if width > NARROW else 240, across, _shares())
        return frame.draw(
            banded_line(frame, training, "first"),
            measurements(frame, tests, "second"),
            title="Success as the run went on",
        )

    legend = tag(
        "p",
        legend_entry("bar", "training episodes, over a sliding window"),
        legend_entry("second", "evaluations on unseen tasks"),
        class_="legend",
    )
    told = "Share of episodes that ended with the task done."
    return section("Learning curve", told, both_sizes(draw), legend)


def _shares() -> Axis:
    return Axis(0.0, 1.0, "", lambda share: f"{share:.0%}")


def _spot(across: float, rate: SuccessRate) -> Spot:
    low, high = rate.interval
    hint = f"{rate.rate:.1%} of {rate.episodes}, interval {low:.1%} to {high:.1%}"
    return Spot(across, rate.rate, low, high, hint)


def templates_section(story: RunStory) -> Markup:
    before, after = story.evaluation("before"), story.evaluation("after")
    if before is None or after is None:
        return _nothing("Before and after, task by task", "The run has not got that far.")
    legend = tag(
        "p",
        legend_entry("ending failure", f"before ({_weights(before)})"),
        legend_entry("bar", f"after ({_weights(after)})"),
        class_="legend",
    )
    told = "Each kind of task on its own; few episodes each, so the bars are wide."
    table = success_table(before, after)
    return section("Before and after, task by task", told, table, legend)


def _weights(evaluation: EvaluationLine) -> str:
    return f"weights {evaluation.weight_version}"


def learner_section(story: RunStory) -> Markup:
    charts = list(_courses(story))
    if not charts:
        return _nothing("The learner", "No updates so far.")
    told = "Figures over the updates: pale as they came, dark the mean around them."
    return section("The learner", told, tag("div", *charts, class_="grid"))


def _courses(story: RunStory) -> Iterator[Markup]:
    for series, key, name, explained in COURSES:
        updates, figures = story.course(series, key)
        if figures:
            yield SmallChart(name, explained, updates, figures).draw()


# Collection --------------------------------------------------------------------------------------


def devices_section(story: RunStory) -> Markup:
    if not story.episodes:
        return _nothing("Devices", "No episodes so far.")
    timeline = Timeline(story.episodes, story.seconds)
    told = (
        f"Dark where a device was in an episode, pale where it waited: {timeline.busy_share:.1%} "
        "of the time was spent playing. Red marks are episodes that the world broke."
    )
    return section("Devices", told, both_sizes(timeline.draw))


def staleness_section(story: RunStory) -> Markup:
    counts = story.staleness()
    if not counts or not story.episodes:
        return _nothing("Staleness", "No episodes so far.")
    chart = Histogram(counts, "versions behind the learner at arrival", "trajectories")
    told = "How old the weights behind a trajectory were when it arrived."
    return section("Staleness", told, _half(chart.draw(HALF), chart.draw(NARROW)))


def endings_section(story: RunStory) -> Markup:
    if not story.episodes:
        return _nothing("How episodes ended", "No episodes so far.")
    unit = time_unit(story.seconds)
    across = Axis(0.0, max(1e-9, story.seconds / unit.seconds), unit.name, short)
    kinds = [ending.value for ending in Ending]
    wide = StackedBars(across, story.endings(24), kinds)
    slim = StackedBars(across, story.endings(12), kinds)
    told = "Shares of the episodes that ended in each span of time."
    drawn = _half(wide.draw(HALF), slim.draw(NARROW))
    return section("How episodes ended", told, drawn, wide.legend())


def _half(wide: Markup, slim: Markup) -> Markup:
    return join([tag("div", wide, class_="wide"), tag("div", slim, class_="narrow")])


# To look at --------------------------------------------------------------------------------------


def recordings_section(story: RunStory) -> Markup:
    if not story.recordings:
        return _nothing("Episodes", "None were kept.")
    strips = []
    for stage, name in STAGES.items():
        recordings = [recording for recording in story.recordings if recording.stage == stage]
        if recordings:
            strips.append(tag("p", name, class_="stage"))
        strips += [storyboard(recording, story.run.pictures) for recording in recordings]
    told = (
        "What the agent saw, and what its finger did. V is the critic's chance of success on that "
        "screen, ρ how much likelier the action is for the policy in training than for the one "
        "that acted, A how much better it went than expected."
    )
    return section("Episodes", told, *strips)


def next_section(story: RunStory) -> Markup:
    """What to type now; nothing for a run whose settings this version cannot read."""
    run = story.run
    try:
        config = load_config(run.config)
    except DistrlError:
        return Markup("")
    commands = [resume_words(run, config)]
    if run.policy.is_dir():
        commands.insert(0, evaluation_words(run, config))
    lines = tag("pre", "\n".join(commands), class_="wrapped")
    return section("Go on", "Play what was trained on more unseen tasks, or train it on.", lines)


def settings_section(story: RunStory) -> Markup:
    text = story.run.config.read_text("utf-8") if story.run.config.exists() else ""
    lines = tag("pre", text)
    return tag("section", tag("details", tag("summary", "Every setting of this run"), lines))
