"""The pieces of the page: places, ticks, means, rows; worked by hand."""

from __future__ import annotations

import re

import pytest

from distrl.episodes.outcome import SuccessRate
from distrl.records import Ending
from distrl.reporting.page.bar_charts import Histogram
from distrl.reporting.page.markup import Markup, tag
from distrl.reporting.page.scale import Scale, short, ticks, time_unit
from distrl.reporting.page.small_chart import SmallChart, smoothed, thinned
from distrl.reporting.page.success_table import success_table
from distrl.reporting.page.timeline import Timeline
from distrl.runs.run_records import EpisodeLine, EvaluationLine, TemplateCount


def test_text_is_escaped_and_markup_is_not() -> None:
    inner = tag("b", "a < b")
    assert tag("p", inner, "&", class_='x"y') == ('<p class="x&quot;y"><b>a &lt; b</b>&amp;</p>')
    assert isinstance(inner, Markup)


def test_figures_are_placed_evenly() -> None:
    scale = Scale(0.0, 10.0, 100.0, 200.0)
    assert [scale.at(figure) for figure in (0.0, 2.5, 10.0)] == [100.0, 125.0, 200.0]
    assert Scale(3.0, 3.0, 0.0, 10.0).at(3.0) == 5.0


@pytest.mark.parametrize(
    ("low", "high", "most", "expected"),
    [
        (0.0, 1.0, 5, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (0.0, 8.85, 10, [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        (0.0, 0.334, 4, [0.0, 0.1, 0.2, 0.3]),
        (-1.0, 1.0, 4, [-1.0, -0.5, 0.0, 0.5, 1.0]),
        (2.0, 2.0, 4, [2.0]),
        (0.0, 1e-12, 5, [0.0, 2e-13, 4e-13, 6e-13, 8e-13, 1e-12]),
    ],
)
def test_axes_are_marked_with_round_figures(
    low: float, high: float, most: int, expected: list[float]
) -> None:
    assert ticks(low, high, most) == pytest.approx(expected, rel=1e-9, abs=1e-18)


@pytest.mark.parametrize(
    ("figure", "words"),
    [(0.0, "0"), (0.0123, "0.0123"), (-0.5, "−0.5"), (1234.0, "1,234"), (12_345.0, "12.3k"),
     (2.5e6, "2.5M"), (1.5e-5, "1.5e−05")],
)  # fmt: skip
def test_figures_are_short(figure: float, words: str) -> None:
    assert short(figure) == words


def test_time_is_counted_in_what_suits_it() -> None:
    names = [time_unit(seconds).name for seconds in (90.0, 600.0, 20_000.0)]
    assert names == ["seconds", "minutes", "hours"]


def test_a_mean_is_over_what_stands_around() -> None:
    figures = [float(n) for n in range(50)]  # a reach of 2 to each side
    means = smoothed(figures)
    assert means[25] == 25.0
    assert means[0] == 1.0  # of 0, 1, 2
    assert smoothed([3.0]) == [3.0]


def test_a_long_course_is_thinned_and_keeps_its_end() -> None:
    spots = [(float(n), 0.0) for n in range(10_000)]
    kept = thinned(spots)
    assert len(kept) <= 302
    assert kept[-1] == spots[-1]
    assert kept[0] == spots[0]


def test_one_outlier_does_not_flatten_a_course() -> None:
    figures = [float(n % 2) for n in range(200)]
    figures[100] = 1e9
    drawn = SmallChart("loss", "", list(range(200)), figures).draw()
    assert "1G" not in drawn
    assert "M<" not in drawn
    assert ">1</text>" in drawn


def test_too_few_or_constant_figures_are_drawn_all_the_same() -> None:
    assert "too few figures" in SmallChart("loss", "", [1.0], [0.5]).draw()
    assert "<path" in SmallChart("loss", "", [1.0, 2.0], [0.5, 0.5]).draw()
    assert "<path" in SmallChart("loss", "", [1.0, 2.0], [0.0, 0.0]).draw()


def test_bars_are_as_high_as_their_shares() -> None:
    drawn = Histogram({"0": 3, "1": 1}, "versions", "trajectories").draw(400)
    heights = [float(h) for h in re.findall(r'height="([\d.]+)" class="bar"', drawn)]
    assert heights[0] == pytest.approx(3 * heights[1], abs=0.2)
    assert "0: 3 trajectories (75.0%)" in drawn


def test_the_table_has_the_whole_first_and_then_the_largest_gains() -> None:
    before = EvaluationLine(
        "before", "test", 0, 0, 0.0, (TemplateCount("a", 1, 4), TemplateCount("b", 0, 4))
    )
    after = EvaluationLine(
        "after", "test", 9, 2, 9.0,
        (TemplateCount("a", 0, 4), TemplateCount("b", 3, 4), TemplateCount("c", 1, 1)),
    )  # fmt: skip
    table = success_table(before, after)
    names = re.findall(r'<th scope="row">(.*?)</th>', table)
    assert names == ["all of them", "b", "c", "a"]
    assert re.findall(r'number ?\w*">([+−]\d+)<', table) == ["+32", "+75", "+0", "−25"]
    assert before.rate == SuccessRate(1, 8)


def line(device: str, began: float, ended: float, ending: Ending = Ending.SUCCESS) -> EpisodeLine:
    return EpisodeLine(f"{device}/{began}", "t", "t", ending, 1, 0, 0, device, began, ended)


def test_devices_are_busy_while_they_play() -> None:
    timeline = Timeline(
        [line("phone-2", 0.0, 5.0), line("phone-2", 7.5, 10.0), line("phone-10", 0.0, 10.0)], 10.0
    )
    assert timeline.devices == ["phone-2", "phone-10"]
    assert timeline.busy("phone-2", spans=4) == [1.0, 1.0, 0.0, 1.0]
    assert timeline.busy("phone-10", spans=4) == [1.0] * 4
    across = Timeline([line("a", 2.0, 3.0)], 10.0).busy("a", spans=4)
    assert across == pytest.approx([0.2, 0.2, 0.0, 0.0])
    assert timeline.busy_share == 0.875


def test_faults_are_marked_and_waiting_is_pale() -> None:
    calm = Timeline([line("a", 0.0, 10.0)], 10.0).draw(500)
    assert 'class="fault"' not in calm
    assert "idle" not in calm
    broken = Timeline([line("a", 0.0, 5.0, Ending.DEVICE_LOST)], 10.0).draw(500)
    assert broken.count('class="fault"') == 1
    assert "idle shade9" in broken


def test_a_shelf_of_devices_fits_on_the_page() -> None:
    many = Timeline([line(f"phone-{n}", 0.0, 9.0) for n in range(200)], 10.0).draw(500)
    height = re.search(r'height="(\d+)"', many)
    assert height is not None
    assert int(height[1]) < 600
