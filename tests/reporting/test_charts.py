"""The charts: numbers worked by hand, looked up in the figures before they become SVG."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from distrl.records import Ending
from distrl.reporting import charts
from distrl.reporting.charts import SPANS, moving_mean, short, time_unit, to_svg
from distrl.reporting.run_story import RunStory
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine


def line(device: str, began: float, ended: float, ending: Ending = Ending.SUCCESS) -> EpisodeLine:
    return EpisodeLine(f"{device}/{began}", "t", "t", ending, 1, 0, 0, device, began, ended)


def story(*episodes: EpisodeLine) -> RunStory:
    return RunStory(RunDirectory(Path("none")), (), episodes, (), ())


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (0.0123, "0.0123"), (-0.5, "−0.5"), (1234.0, "1,234"), (12_345.0, "12.3k"),
     (2.5e6, "2.5M"), (1.5e-5, "1.5e−05")],
)  # fmt: skip
def test_numbers_are_short(value: float, text: str) -> None:
    assert short(value) == text


def test_time_is_counted_in_what_suits_it() -> None:
    names = [time_unit(seconds)[0] for seconds in (90.0, 600.0, 20_000.0)]
    assert names == ["seconds", "minutes", "hours"]


def test_a_mean_is_over_the_window_around_a_value() -> None:
    means = moving_mean([float(n) for n in range(50)])  # a reach of 2 to each side
    assert means[25] == 25.0
    assert means[0] == 1.0  # of 0, 1, 2
    assert moving_mean([3.0]) == [3.0]


def test_one_outlier_does_not_flatten_a_metric() -> None:
    values = [float(n % 2) for n in range(200)]
    values[100] = 1e9
    figure = charts.metric(list(range(200)), values)
    assert figure is not None
    assert figure.axes[0].get_ylim() == (0.0, 1.0)
    assert all(np.max(drawn.get_ydata()) <= 1.0 for drawn in figure.axes[0].lines)


def test_too_few_values_are_not_drawn_and_constant_ones_are() -> None:
    assert charts.metric([1.0], [0.5]) is None
    assert charts.metric([1.0, 2.0], [0.5, float("nan")]) is None
    for value in (0.5, 0.0):
        figure = charts.metric([1.0, 2.0], [value, value])
        assert figure is not None
        low, high = figure.axes[0].get_ylim()
        assert low < value < high


def test_a_long_metric_is_thinned() -> None:
    figure = charts.metric(list(range(10_000)), [0.1 * (n % 7) for n in range(10_000)])
    assert figure is not None
    assert all(np.size(drawn.get_xdata()) <= charts.MAX_POINTS for drawn in figure.axes[0].lines)


def test_bars_are_as_high_as_their_shares() -> None:
    late = [
        EpisodeLine(f"{n}", "t", "t", Ending.SUCCESS, 1, 0, versions, "p", 0.0, 1.0 + n)
        for n, versions in enumerate((0, 0, 0, 1))
    ]
    figure = charts.lag_histogram(story(*late), 400)
    assert figure is not None
    bars = [bar for bar in figure.axes[0].patches if isinstance(bar, Rectangle)]
    assert [bar.get_height() for bar in bars] == [0.75, 0.25]


def test_endings_are_stacked_to_the_whole() -> None:
    played = [line("a", 0.0, 1.0), line("a", 1.0, 1.5, Ending.FAILURE), line("a", 1.5, 24.0)]
    figure = charts.endings(story(*played), 480)
    assert figure is not None
    bars = [bar for bar in figure.axes[0].patches if isinstance(bar, Rectangle)]
    tops = [bar.get_y() + bar.get_height() for bar in bars if bar.get_height()]
    assert max(tops) == pytest.approx(1.0)
    legend = figure.axes[0].get_legend()
    assert legend is not None
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["success", "failure"]


def test_devices_are_busy_while_they_play() -> None:
    told = story(line("phone-2", 0.0, 5.0), line("phone-2", 7.5, 10.0), line("phone-10", 0.0, 10.0))
    assert told.devices == ["phone-2", "phone-10"]
    assert told.busy("phone-2", spans=4) == [1.0, 1.0, 0.0, 1.0]
    assert told.busy("phone-10", spans=4) == [1.0] * 4
    across = story(line("a", 2.0, 3.0), line("b", 0.0, 10.0)).busy("a", spans=4)
    assert across == pytest.approx([0.2, 0.2, 0.0, 0.0])


def test_the_timeline_is_dark_where_a_device_played_and_marks_faults() -> None:
    told = story(line("a", 0.0, 5.0, Ending.DEVICE_LOST), line("b", 0.0, 10.0))
    figure = charts.device_timeline(told, 500)
    assert figure is not None
    [picture] = figure.axes[0].images
    shades = np.asarray(picture.get_array())[..., 3]  # [devices, spans]
    assert shades.shape == (2, SPANS)
    assert shades[1].min() == 1.0
    assert shades[0, 0] == 1.0
    assert shades[0, -1] < 0.1
    marks = [drawn for drawn in figure.axes[0].lines if drawn.get_marker() == "|"]
    assert [np.size(drawn.get_xdata()) for drawn in marks] == [1, 0]


def test_many_devices_fit_on_the_page() -> None:
    figure = charts.device_timeline(story(*(line(f"p-{n}", 0.0, 9.0) for n in range(200))), 500)
    assert figure is not None
    assert figure.get_figheight() * 72 < 600


def test_svg_is_bare_and_takes_the_colours_of_the_page() -> None:
    figure = charts.metric([1.0, 2.0, 3.0], [0.5, 0.7, 0.1])
    assert figure is not None
    svg = to_svg(figure)
    assert svg.startswith("<svg")
    assert "metadata" not in svg
    assert "var(--first)" in svg
    assert "#0a000" not in svg
    assert "<text" in svg
