"""The pages of Feed to write, change, delete or report posts, and to delete comments."""

from __future__ import annotations

from functools import partial

from phonesim.app import Ui, Window
from phonesim.contents.everyday.posts import (
    AUDIENCES,
    EVERYBODY,
    ME,
    SCENES,
    TOPICS,
    Comment,
    Post,
    PostReport,
)
from phonesim.toolkit.boxes import Flow, Grid, Pad
from phonesim.toolkit.controls import Button, Chip, IconButton
from phonesim.toolkit.rows import ListRow
from phonesim.toolkit.swatches import PictureChoice
from phonesim.toolkit.texts import Icon, Picture, Text
from phonesim.toolkit.widget import Widget

MAX_LETTERS = 500  # characters of a post
REASONS = ("Spam", "Rude", "False information", "Dangerous")


def new_post(ui: Ui) -> Window:
    topic, picture = ui.text("topic"), ui.text("picture")
    chosen = ui.text("audience", EVERYBODY)

    def share() -> None:
        text = ui.text("text").strip()
        if not text:
            ui.say(ui.tr("Write something first"))
            return
        if len(text) > MAX_LETTERS:
            ui.go("too_long", len(text))
            return
        ui.facts.add(Post(0, ME, text, topic, picture, ui.now, 0, False, False, chosen))
        ui.back()
        ui.say(ui.tr("Posted"))

    chips = [Chip(each, partial(ui.set, "topic", each), each == topic) for each in TOPICS]
    shown: list[Widget] = [
        Pad(ui.field("text", ui.tr("What is on your mind?"), lines=4), bottom=2),
        Pad(Flow(chips), top=4),
        ListRow(
            ui.tr("Audience"), ui.tr(chosen), icon="eye", on_tap=lambda: ui.go("audience", chosen)
        ),
        ListRow(
            ui.tr("Picture"), ui.tr("Add one"), icon="image", on_tap=lambda: ui.go("choose_picture")
        ),
    ]
    if picture:
        shown[-1] = Pad(Picture(picture, high=140, label=ui.tr("Chosen picture")))
    return ui.page(
        ui.tr("New post"), shown, actions=[IconButton("send", ui.tr("Post"), share, selected=True)]
    )


def too_long(ui: Ui, letters: int) -> Window:
    """An error page: the text is too long for a post."""
    words = ui.tr(
        "It has {count} letters, and a post holds {most}.", count=letters, most=MAX_LETTERS
    )
    return ui.page(
        ui.tr("Not posted"),
        [
            Pad(Icon("error", 72, "danger"), top=40),
            Pad(Text(ui.tr("That is too long"), "headline", align="centre")),
            Pad(Text(words, align="centre")),
        ],
        foot=Pad(Button(ui.tr("Go back"), ui.back, "soft")),
    )


def choose_picture(ui: Ui) -> Window:
    def choose(scene: str) -> None:
        ui.back()
        ui.set("picture", f"photo:{scene}")

    tiles: list[Widget] = [
        PictureChoice(ui.tr(scene.capitalize()), f"photo:{scene}", partial(choose, scene), 90)
        for scene in SCENES
    ]
    return ui.page(ui.tr("Choose a picture"), [Pad(Grid(tiles, 3, 10), sides=12)])


def audience(ui: Ui, chosen: str) -> Window:
    choices = {ui.tr(each): partial(ui.set, "audience", each) for each in AUDIENCES}
    return ui.sheet(ui.tr("Who may see it?"), choices, chosen=ui.tr(chosen))


def edit_post(ui: Ui, post_id: int) -> Window:
    post = ui.facts.get(Post, post_id)
    chosen = ui.text("audience", post.audience)

    def save() -> None:
        text = ui.text("text").strip()
        if not text:
            ui.say(ui.tr("A post cannot be empty"))
            return
        if len(text) > MAX_LETTERS:
            ui.go("too_long", len(text))
            return
        ui.facts.edit(post, text=text, audience=chosen)
        ui.back()
        ui.say(ui.tr("Post saved"))

    return ui.page(
        ui.tr("Edit post"),
        [
            Pad(ui.field("text", ui.tr("Text"), lines=4)),
            ListRow(
                ui.tr("Audience"),
                ui.tr(chosen),
                icon="eye",
                on_tap=lambda: ui.go("audience", chosen),
            ),
        ],
        actions=[IconButton("check", ui.tr("Save"), save)],
    )


def confirm_delete(ui: Ui, post_id: int) -> Window:
    post = ui.facts.get(Post, post_id)

    def delete() -> None:
        ui.facts.remove_where(Comment, lambda comment: comment.post == post_id)
        ui.facts.remove(post)
        ui.say(ui.tr("Post deleted"))

    text = ui.tr("“{words}” and its comments will be gone.", words=post.text[:80])
    return ui.dialog(ui.tr("Delete post?"), text, {ui.tr("Cancel"): None, ui.tr("Delete"): delete})


def confirm_delete_comment(ui: Ui, comment_id: int) -> Window:
    comment = ui.facts.get(Comment, comment_id)
    delete = partial(ui.facts.remove, comment)
    return ui.dialog(
        ui.tr("Delete comment?"), comment.text, {ui.tr("Cancel"): None, ui.tr("Delete"): delete}
    )


def report(ui: Ui, post_id: int) -> Window:
    def send(reason: str) -> None:
        ui.facts.add(PostReport(post=post_id, reason=reason))
        ui.go("reported", reason)

    ui.facts.get(Post, post_id)
    return ui.sheet(ui.tr("Why?"), {ui.tr(reason): partial(send, reason) for reason in REASONS})


def reported(ui: Ui, reason: str) -> Window:
    return ui.page(
        ui.tr("Thank you"),
        [
            Pad(Icon("flag", 72, "primary"), top=40),
            Pad(Text(ui.tr("We will have a look"), "headline", align="centre")),
            Pad(
                Text(
                    ui.tr("Your reason: {reason}", reason=ui.tr(reason)),
                    "body",
                    "muted",
                    align="centre",
                )
            ),
        ],
        foot=Pad(Button(ui.tr("Close"), ui.back, "soft")),
    )
