"""Lists of Feed beside its timelines: liked posts, news, topics, the user's reports."""

from __future__ import annotations

from functools import partial

from phonesim.app import Ui, Window
from phonesim.contents.everyday.posts import (
    ME,
    TOPICS,
    BlockedAuthor,
    Comment,
    Post,
    PostReport,
)
from phonesim.contents.timestamps import short
from phonesim.toolkit.rows import Empty, ListRow


def _newest_first(ui: Ui) -> list[Post]:
    return sorted(ui.facts.all(Post), key=lambda post: (post.time, post.id), reverse=True)


def liked(ui: Ui) -> Window:
    rows = [
        ListRow(
            post.text,
            ui.tr(post.author),
            trailing=short(post.time, ui.now, ui.settings.use_24_hour, ui.language),
            icon="heart_filled",
            on_tap=partial(ui.go, "post", post.id),
        )
        for post in _newest_first(ui)
        if post.liked
    ]
    return ui.page(ui.tr("Liked posts"), rows or [Empty(ui.tr("You liked nothing yet"), "heart")])


def news(ui: Ui) -> Window:
    """A list of comments on the user's posts, newest first."""
    own = {post.id: post for post in ui.facts.all(Post) if post.author == ME}
    blocked = {each.person for each in ui.facts.all(BlockedAuthor)}
    rows = [
        ListRow(
            ui.tr("{name} commented", name=comment.author),
            f"{comment.text}\n{own[comment.post].text}",
            avatar=comment.author,
            on_tap=partial(ui.go, "post", comment.post),
        )
        for comment in reversed(ui.facts.all(Comment))
        if comment.post in own and comment.author != ME and comment.author not in blocked
    ]
    return ui.page(ui.tr("News for you"), rows or [Empty(ui.tr("Nothing new"), "bell")])


def topics(ui: Ui) -> Window:
    posts = ui.facts.all(Post)
    rows = [
        ListRow(
            topic,
            ui.language.plural(
                "{count} post", "{count} posts", sum(post.topic == topic for post in posts)
            ),
            icon="tag",
            on_tap=partial(ui.go, "topic", topic),
        )
        for topic in TOPICS
    ]
    return ui.page(ui.tr("All topics"), rows)


def reports(ui: Ui) -> Window:
    """A list of the user's reports, each of which can be withdrawn."""
    posts = {post.id: post for post in ui.facts.all(Post)}
    rows = [
        ListRow(
            posts[report.post].text,
            ui.tr("Your reason: {reason}", reason=ui.tr(report.reason)),
            icon="flag",
            on_tap=partial(ui.go, "post", report.post),
            button=(
                "undo",
                ui.tr("Take back {words}", words=posts[report.post].text),
                partial(ui.facts.remove, report),
            ),
        )
        for report in ui.facts.all(PostReport)
        if report.post in posts
    ]
    return ui.page(ui.tr("My reports"), rows or [Empty(ui.tr("You reported nothing"), "flag")])
