"""Draw recordings of episodes: screens with the agent's touches, as contact sheet, GIF or MP4.

An MP4 needs an encoder, which `distrl[video]` brings.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import font_roboto
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from distrl import records as r
from distrl.episodes.live_feed import confidence
from distrl.errors import NotInstalled, UsageError
from distrl.output_file import prepare_output_file

STEP_SECONDS, END_SECONDS = 1.1, 2.6  # how long a screen is shown, and the last one
FRAMES = 10  # per second of an MP4
SUFFIXES = (".gif", ".mp4", ".png")
INK, MUTED, PAPER = (32, 34, 40), (110, 116, 128), (246, 247, 250)
FINGER, GOOD, BAD = (235, 64, 52), (30, 142, 62), (197, 34, 31)
SMOOTH = 3  # marks are drawn this much larger, then averaged down
SHADOW = (214, 218, 226)
COLUMNS = 6


def caption_font(size: int, weight: str = "") -> ImageFont.FreeTypeFont:
    path = font_roboto.font_files[f"Roboto{weight}"]
    return ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)


PLAIN: dict[type[r.Action], str] = {
    r.Back: "back", r.Home: "home", r.Enter: "enter", r.Done: "done", r.Impossible: "impossible",
    r.Recents: "recents", r.OpenShade: "open the shade", r.VolumeUp: "volume up",
    r.VolumeDown: "volume down", r.Power: "power",
}  # fmt: skip


def describe(action: r.Action) -> str:
    match action:
        case r.TypeText(text):
            return f"type “{text}”"
        case r.OpenApp(name):
            return f"open {name}"
        case r.Wait(seconds):
            return f"wait {seconds:g} s"
        case r.AskUser(question, reply):
            return f"ask “{question}”" + (f": “{reply}”" if reply else "")
        case r.Answer(text):
            return f"answer “{text}”"
        case r.Unreadable(text):
            return f"unreadable “{text[:30]}”"
        case _:
            return PLAIN.get(type(action)) or _describe_touch(action)


def _describe_touch(action: r.Action) -> str:
    match action:
        case r.LongPress(x, y):
            return f"long press {x:.2f}, {y:.2f}"
        case r.DoubleTap(x, y):
            return f"double tap {x:.2f}, {y:.2f}"
        case r.Pinch(scale=scale):
            return "pinch in" if scale < 1 else "pinch out"
        case r.DragAndDrop(x, y, to_x, to_y):
            return f"drag {x:.2f}, {y:.2f} to {to_x:.2f}, {to_y:.2f}"
        case r.Swipe(x, y, to_x, to_y):
            across, down = to_x - x, to_y - y
            if abs(down) >= abs(across):
                return "swipe up" if down < 0 else "swipe down"
            return "swipe left" if across < 0 else "swipe right"
        case r.Tap(x, y):
            return f"tap {x:.2f}, {y:.2f}"
        case _:
            return type(action).__name__


TOUCHES = (r.Tap, r.LongPress, r.Swipe, r.DoubleTap, r.DragAndDrop, r.Pinch)


def draw_action(screen: r.Screen, action: r.Action | None) -> Image.Image:
    """Return the screen with the touch of the next action drawn on it."""
    picture = Image.fromarray(np.asarray(screen.pixels))
    if not isinstance(action, TOUCHES):
        return picture
    size = (screen.width * SMOOTH, screen.height * SMOOTH)
    mask = Image.new("L", size)
    draw = ImageDraw.Draw(mask)
    at = (action.x * size[0], action.y * size[1])
    _ring(draw, at, 17 * SMOOTH, 3 * SMOOTH)
    if isinstance(action, r.LongPress | r.DoubleTap | r.Pinch):
        _ring(draw, at, 24 * SMOOTH, 2 * SMOOTH)
    if isinstance(action, r.Swipe | r.DragAndDrop):
        _arrow(draw, at, (action.to_x * size[0], action.to_y * size[1]))
    else:
        radius = 6 * SMOOTH
        draw.ellipse((at[0] - radius, at[1] - radius, at[0] + radius, at[1] + radius), fill=255)
    picture.paste(FINGER, (0, 0), mask.resize(picture.size, Image.Resampling.BOX))
    return picture


def _ring(draw: ImageDraw.ImageDraw, at: tuple[float, float], radius: float, width: int) -> None:
    box = (at[0] - radius, at[1] - radius, at[0] + radius, at[1] + radius)
    draw.ellipse(box, fill=70, outline=255, width=width)


def _arrow(draw: ImageDraw.ImageDraw, start: tuple[float, float], end: tuple[float, float]) -> None:
    draw.line([start, end], fill=255, width=5 * SMOOTH)
    way = np.subtract(end, start)
    along = way / max(1.0, float(np.hypot(*way))) * 16 * SMOOTH
    side = np.array([-along[1], along[0]]) * 0.6
    tip = np.asarray(end)
    corners = [tip, tip - along + side, tip - along - side]
    draw.polygon([(float(x), float(y)) for x, y in corners], fill=255)


def verdict_line(trajectory: r.Trajectory) -> tuple[str, tuple[int, int, int]]:
    """Return how the episode ended, in words, and their colour."""
    if trajectory.ending is r.Ending.SUCCESS:
        return f"success in {len(trajectory.decisions)} steps", GOOD
    why = trajectory.verdict.reason if trajectory.verdict else " ".join(trajectory.notes)
    unjudged = trajectory.ending is r.Ending.AWAITING_VERDICT
    words = trajectory.ending.value.replace("_", " ") + (f": {why}" if why else "")
    return words, MUTED if unjudged else BAD


def thought(decision: r.Decision) -> str:
    """Return a model's answer with its confidence; empty for agents that are no model."""
    sure = confidence(decision)
    answer = " ".join(decision.text.split())
    return answer if sure is None else f"{sure:.0%} sure  {answer}"


def contact_sheet(trajectory: r.Trajectory, width: int = 216) -> Image.Image:
    """All screens of an episode on one page; each panel is `width` pixels wide."""
    actions: list[r.Action | None] = [decision.action for decision in trajectory.decisions]
    if len(actions) > 1 and isinstance(actions[-1], r.Answer | r.Done | r.Impossible):
        panels = list(zip(trajectory.screens[:-1], actions, strict=True))
    else:
        panels = list(zip(trajectory.screens, [*actions, None], strict=True))
    height = round(width * trajectory.screens[0].height / trajectory.screens[0].width)
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    gap, head, foot = 18, 86, 34
    sheet = Image.new(
        "RGB", (max(640, columns * (width + gap) + gap), head + rows * (height + foot + gap)), PAPER
    )
    draw = ImageDraw.Draw(sheet)
    draw.text((gap, 18), trajectory.task.instruction, fill=INK, font=caption_font(22, "Medium"))
    line, color = verdict_line(trajectory)
    draw.text((gap, 50), f"{trajectory.task.id}   ·   ", fill=MUTED, font=caption_font(15))
    offset = draw.textlength(f"{trajectory.task.id}   ·   ", font=caption_font(15))
    draw.text((gap + offset, 50), line, fill=color, font=caption_font(15, "Medium"))
    for index, (screen, action) in enumerate(panels):
        x = gap + index % columns * (width + gap)
        y = head + index // columns * (height + foot + gap)
        _panel(sheet, screen, action, (x, y, width, height))
        caption = f"{index + 1}  {describe(action)}" if action else "end"
        draw.text((x, y + height + 8), _fit(caption, width), fill=INK, font=caption_font(14))
    return sheet


def _panel(
    sheet: Image.Image, screen: r.Screen, action: r.Action | None, box: tuple[int, int, int, int]
) -> None:
    x, y, width, height = box
    picture = draw_action(screen, action).resize((width, height), Image.Resampling.LANCZOS)
    draw = ImageDraw.Draw(sheet)
    draw.rounded_rectangle((x - 2, y - 2, x + width + 1, y + height + 1), radius=10, fill=SHADOW)
    mask = Image.new("L", (width * SMOOTH, height * SMOOTH))
    corner = (0, 0, width * SMOOTH - 1, height * SMOOTH - 1)
    ImageDraw.Draw(mask).rounded_rectangle(corner, radius=9 * SMOOTH, fill=255)
    sheet.paste(picture, (x, y), mask.resize((width, height), Image.Resampling.BOX))


def _fit(text: str, width: int, size: int = 14) -> str:
    font = caption_font(size)
    while font.getlength(text) > width:
        text = text[:-2].rstrip() + "…"
    return text


def recording_frames(trajectory: r.Trajectory, width: int = 270) -> list[Image.Image]:
    """One picture per step, with the instruction above and the action below."""
    actions: list[r.Action | None] = [*(d.action for d in trajectory.decisions), None]
    height = round(width * trajectory.screens[0].height / trajectory.screens[0].width)
    thoughts = [*(thought(decision) for decision in trajectory.decisions), ""]
    head, foot = 58, 56 if any(thoughts) else 34
    frames = []
    for index, (screen, action) in enumerate(zip(trajectory.screens, actions, strict=True)):
        frame = Image.new("RGB", (width + 24, head + height + foot), PAPER)
        draw = ImageDraw.Draw(frame)
        for line, text in enumerate(_two_lines(trajectory.task.instruction, width)):
            draw.text((12, 8 + 22 * line), text, fill=INK, font=caption_font(16, "Medium"))
        _panel(frame, screen, action, (12, head, width, height))
        line_text, color = verdict_line(trajectory)
        caption = f"{index + 1}  {describe(action)}" if action else line_text
        draw.text(
            (12, head + height + 9),
            _fit(caption, width, 15),
            fill=MUTED if action else color,
            font=caption_font(15, "Medium"),
        )
        draw.text(
            (12, head + height + 31),
            _fit(thoughts[index], width, 13),
            fill=MUTED,
            font=caption_font(13),
        )
        frames.append(frame)
    return frames


def _two_lines(text: str, width: int) -> list[str]:
    font, lines = caption_font(16, "Medium"), [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if font.getlength(longer) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > 2:
        lines = [lines[0], _fit(" ".join(lines[1:]), width - 8, 16)]
    return lines


def write_recording(trajectories: Sequence[r.Trajectory], path: Path, width: int = 270) -> None:
    """Write recordings side by side (.gif, .mp4), or contact sheets below each other (.png)."""
    if path.suffix in (".gif", ".mp4"):
        write = write_gif if path.suffix == ".gif" else write_mp4
        write(_side_by_side([recording_frames(each, width) for each in trajectories]), path)
    else:
        _below_each_other([contact_sheet(each) for each in trajectories]).save(path)


def _side_by_side(recordings: Sequence[Sequence[Image.Image]]) -> list[Image.Image]:
    """Frames of recordings that start together; the last frame of a shorter one is held."""
    sizes = [recording[0].size for recording in recordings]
    size = (sum(width for width, _ in sizes), max(height for _, height in sizes))
    frames = []
    for number in range(max(map(len, recordings))):
        frame, left = Image.new("RGB", size, PAPER), 0
        for recording in recordings:
            frame.paste(recording[min(number, len(recording) - 1)], (left, 0))
            left += recording[0].width
        frames.append(frame)
    return frames


def _below_each_other(sheets: Sequence[Image.Image]) -> Image.Image:
    size = (max(sheet.width for sheet in sheets), sum(sheet.height for sheet in sheets))
    page, top = Image.new("RGB", size, PAPER), 0
    for sheet in sheets:
        page.paste(sheet, (0, top))
        top += sheet.height
    return page


def write_gif(frames: Sequence[Image.Image], path: Path) -> None:
    durations = [round(1000 * seconds) for seconds in _seconds(frames)]
    shared = _below_each_other([frame.reduce(2) for frame in frames]).quantize(256)
    indexed = [frame.quantize(palette=shared, dither=Image.Dither.NONE) for frame in frames]
    indexed[0].save(
        path, save_all=True, append_images=indexed[1:], duration=durations, loop=0, optimize=True
    )


def write_mp4(frames: Sequence[Image.Image], path: Path) -> None:
    """Write H.264, which every browser plays; raise `NotInstalled` without an encoder."""
    require_recording(path)
    import imageio_ffmpeg

    size = (frames[0].width // 2 * 2, frames[0].height // 2 * 2)  # H.264 needs even sizes
    video = imageio_ffmpeg.write_frames(str(path), size, fps=FRAMES, macro_block_size=2)
    video.send(None)
    for frame, seconds in zip(frames, _seconds(frames), strict=True):
        pixels = np.ascontiguousarray(np.asarray(frame.crop((0, 0, *size)), np.uint8))
        for _ in range(round(FRAMES * seconds)):
            video.send(pixels)
    video.close()


def _seconds(frames: Sequence[Image.Image]) -> list[float]:
    return [STEP_SECONDS] * (len(frames) - 1) + [END_SECONDS]


def can_write_mp4() -> bool:
    return importlib.util.find_spec("imageio_ffmpeg") is not None


def require_recording(path: Path) -> None:
    """Raise if no recording can be written to `path`; to be called before anything is played."""
    if path.suffix not in SUFFIXES:
        raise UsageError(f"--out {path}; give a recording (.gif, .mp4) or a contact sheet (.png)")
    prepare_output_file(path, "episode.gif")
    if path.suffix == ".mp4" and not can_write_mp4():
        raise NotInstalled(
            "an MP4 needs an encoder: pip install 'distrl[video]' (imageio-ffmpeg); a .gif does not"
        )
