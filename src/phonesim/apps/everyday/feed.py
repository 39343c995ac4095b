"""Feed: a social network; comment, like, save, follow, block, report, and post."""

from __future__ import annotations

import random
from datetime import datetime
from functools import partial

from phonesim.app import App, Ui, Window
from phonesim.apps.everyday import feed_lists, feed_people, feed_writing
from phonesim.contents.everyday.posts import (
    ME,
    TOPICS,
    BlockedAuthor,
    Comment,
    FeedSettings,
    Following,
    Post,
    PostReport,
    furnish_posts,
)
from phonesim.contents.timestamps import short
from phonesim.facts import Facts
from phonesim.scene import Handler
from phonesim.toolkit.boxes import Card, Column, Flow, Grid, Pad, Row
from phonesim.toolkit.controls import Chip, IconButton
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Picture, Text
from phonesim.toolkit.widget import Widget

TABS = ("Following", "Discover", "Me")
MAX_POSTS = 25


class FeedApp(App):
    """Posts of people the user follows, everybody else's, and the user's own."""

    name = "Feed"
    icon = "globe"
    color = (190, 66, 118)
    preinstalled = False
    kinds = (Post, Comment, Following, BlockedAuthor, PostReport, FeedSettings)

    network_pages = frozenset(
        ("new_post", "edit_post", "search", "person", "suggestions", "report", "confirm_block",
         "confirm_delete", "confirm_delete_comment", "edit_profile", "confirm_deactivate")
    )  # fmt: skip

    new_post = staticmethod(feed_writing.new_post)
    choose_picture = staticmethod(feed_writing.choose_picture)
    audience = staticmethod(feed_writing.audience)
    edit_post = staticmethod(feed_writing.edit_post)
    confirm_delete = staticmethod(feed_writing.confirm_delete)
    confirm_delete_comment = staticmethod(feed_writing.confirm_delete_comment)
    report = staticmethod(feed_writing.report)
    reported = staticmethod(feed_writing.reported)
    too_long = staticmethod(feed_writing.too_long)
    person = staticmethod(feed_people.person)
    following = staticmethod(feed_people.following)
    suggestions = staticmethod(feed_people.suggestions)
    liked = staticmethod(feed_lists.liked)
    news = staticmethod(feed_lists.news)
    topics = staticmethod(feed_lists.topics)
    reports = staticmethod(feed_lists.reports)
    blocked = staticmethod(feed_people.blocked)
    confirm_block = staticmethod(feed_people.confirm_block)
    search = staticmethod(feed_people.search)
    settings = staticmethod(feed_people.settings)
    privacy = staticmethod(feed_people.privacy)
    account = staticmethod(feed_people.account)
    edit_profile = staticmethod(feed_people.edit_profile)
    confirm_deactivate = staticmethod(feed_people.confirm_deactivate)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        furnish_posts(facts, rng, now)

    def home(self, ui: Ui) -> Window:
        if not ui.facts.one(FeedSettings).active:
            return self._asleep(ui)
        tab = ui.tab(*TABS)
        body: list[Widget] = [post_card(ui, post) for post in _timeline(ui, tab)[:MAX_POSTS]]
        if tab == "Discover":
            chips = [Chip(topic, partial(ui.go, "topic", topic)) for topic in TOPICS]
            body = [Pad(Flow(chips), top=10, bottom=2), *body]
        if tab == "Me":
            body = [self._own(ui), *body]
        return ui.page(
            ui.tr("Feed"),
            body or [Empty(ui.tr("Nothing to see. Follow somebody"), "users")],
            tabs=ui.tabs(*map(ui.tr, TABS)),
            primary=("plus", ui.tr("New post"), lambda: ui.go("new_post")),
            actions=[
                IconButton("search", ui.tr("Search"), lambda: ui.go("search")),
                IconButton("menu", ui.tr("Menu"), lambda: ui.go("options")),
            ],
        )

    def _own(self, ui: Ui) -> Widget:
        own = ui.facts.one(FeedSettings)
        edit = partial(ui.go, "edit_profile", name=own.name, about=own.about)
        return ListRow(own.name, own.about, avatar=own.name, on_tap=edit, trailing=ui.tr("Edit"))

    def _asleep(self, ui: Ui) -> Window:
        wake = partial(ui.facts.change, FeedSettings, active=True)
        return ui.page(
            ui.tr("Feed"),
            [
                Empty(ui.tr("Your account is switched off"), "moon"),
                ListRow(ui.tr("Switch it on again"), icon="power", on_tap=wake),
            ],
        )

    def options(self, ui: Ui) -> Window:
        pages = {
            "Saved posts": "saved", "Liked posts": "liked", "News for you": "news",
            "All topics": "topics", "People I follow": "following",
            "People you may know": "suggestions", "My reports": "reports",
            "Feed settings": "settings",
        }  # fmt: skip
        return ui.menu({ui.tr(label): partial(ui.go, page) for label, page in pages.items()})

    def topic(self, ui: Ui, topic: str) -> Window:
        posts = [post for post in _visible(ui) if post.topic == topic]
        shown: list[Widget] = [post_card(ui, post) for post in posts]
        return ui.page(topic, shown or [Empty(ui.tr("Nobody wrote about that"), "search")])

    def saved(self, ui: Ui) -> Window:
        tiles: list[Widget] = [
            Card(
                Column(
                    [Text(ui.tr(post.author), "strong"), Text(post.text, "small", max_lines=3)],
                    gap=4,
                ),
                post.text,
                on_tap=partial(ui.go, "post", post.id),
            )
            for post in _visible(ui)
            if post.saved
        ]
        body: Widget = (
            Pad(Grid(tiles, 2, 10), sides=12) if tiles else Empty(ui.tr("Nothing"), "bookmark")
        )
        return ui.page(ui.tr("Saved posts"), [body])

    # One post ----------------------------------------------------------------------------------

    def post(self, ui: Ui, post_id: int) -> Window:
        post = ui.facts.get(Post, post_id)
        comments = ui.facts.where(Comment, lambda comment: comment.post == post_id)
        rows: list[Widget] = [_comment(ui, comment) for comment in comments]
        counted = ui.language.plural("{count} comment", "{count} comments", len(rows))
        when = short(post.time, ui.now, ui.settings.use_24_hour, ui.language)
        words: list[Widget] = [
            ListRow(
                ui.tr(post.author),
                f"{when} · {ui.tr(post.audience)}",
                avatar=post.author,
                on_tap=partial(ui.go, "person", post.author),
            ),
            Pad(Text(post.text, "title"), bottom=2),
            Pad(Text(_liked(ui, post), "small", "primary"), top=0),
        ]
        if post.picture:
            words.insert(1, Pad(Picture(post.picture, high=200), sides=12))
        send = partial(_say, ui, post_id)
        field = ui.field("draft", ui.tr("Add a comment"), on_submit=send)
        button = IconButton("send", ui.tr("Send comment"), send, selected=True)
        return ui.page(
            ui.tr("Post"),
            [*words, Heading(counted), *rows],
            actions=[
                *_marks(ui, post),
                IconButton("more", ui.tr("More options"), lambda: ui.go("post_menu", post_id)),
            ],
            foot=Pad(Row([field, button], gap=4, stretch=0), sides=10, top=4, bottom=6),
        )

    def post_menu(self, ui: Ui, post_id: int) -> Window:
        post = ui.facts.get(Post, post_id)
        choices: dict[str, Handler] = {
            ui.tr("Report"): partial(ui.go, "report", post_id),
            ui.tr("Block author"): partial(ui.go, "confirm_block", post.author),
        }
        if post.author == ME:
            choices = {
                ui.tr("Edit post"): partial(
                    ui.go, "edit_post", post_id, text=post.text, audience=post.audience
                ),
                ui.tr("Delete post"): partial(ui.go, "confirm_delete", post_id),
            }
        return ui.menu(choices)


def _visible(ui: Ui) -> list[Post]:
    """Return posts, newest first, without those of blocked people."""
    blocked = {each.person for each in ui.facts.all(BlockedAuthor)}
    posts = [post for post in ui.facts.all(Post) if post.author not in blocked]
    return sorted(posts, key=lambda post: (post.time, post.id), reverse=True)


def _timeline(ui: Ui, tab: str) -> list[Post]:
    followed = {each.person for each in ui.facts.all(Following)}
    if tab == "Me":
        return [post for post in _visible(ui) if post.author == ME]
    others = [post for post in _visible(ui) if post.author != ME]
    return [post for post in others if (post.author in followed) is (tab == "Following")]


def _marks(ui: Ui, post: Post) -> list[IconButton]:
    like = partial(
        ui.facts.edit, post, liked=not post.liked, likes=post.likes + (-1 if post.liked else 1)
    )
    return [
        IconButton(
            "heart_filled" if post.liked else "heart",
            ui.tr("Unlike") if post.liked else ui.tr("Like"),
            like,
            selected=post.liked,
        ),
        IconButton(
            "bookmark",
            ui.tr("Remove from saved") if post.saved else ui.tr("Save post"),
            partial(ui.facts.edit, post, saved=not post.saved),
            selected=post.saved,
        ),
    ]


def _liked(ui: Ui, post: Post) -> str:
    return f"{post.topic}  {ui.tr('{count} likes', count=post.likes)}"


def post_card(ui: Ui, post: Post) -> Widget:
    """A post in a list: a tap anywhere opens it."""
    when = short(post.time, ui.now, ui.settings.use_24_hour, ui.language)
    lines: list[Widget] = [
        Row([Text(ui.tr(post.author), "strong"), Text(when, "tiny", "muted")], stretch=0),
        Text(post.text, "body", max_lines=3),
    ]
    if post.picture:
        lines.append(Picture(post.picture, high=120))
    lines.append(Text(_liked(ui, post), "tiny", "muted"))
    card = Card(Column(lines, gap=6), post.text, on_tap=partial(ui.go, "post", post.id))
    return Pad(card, sides=12, top=5, bottom=5)


def _comment(ui: Ui, comment: Comment) -> ListRow:
    delete = partial(ui.go, "confirm_delete_comment", comment.id)
    label = ui.tr("Delete comment {words}", words=comment.text)
    button = ("trash", label, delete) if comment.author == ME else None
    return ListRow(ui.tr(comment.author), comment.text, avatar=comment.author, button=button)


def _say(ui: Ui, post_id: int) -> None:
    text = ui.text("draft").strip()
    if text and ui.offline:
        ui.say(ui.tr("Not sent: you are offline"))
    elif text:
        ui.facts.add(Comment(post=post_id, author=ME, text=text))
        ui.set("draft", "")
        ui.say(ui.tr("Comment sent"))
