"""The pages of Feed about people and the user: profiles, following, blocking, settings."""

from __future__ import annotations

from functools import partial

from phonesim.app import Ui, Window
from phonesim.apps.everyday.blocked_people import blocked_people
from phonesim.apps.everyday.switches import switch_rows
from phonesim.contents.everyday.posts import BlockedAuthor, FeedSettings, Following, Post
from phonesim.contents.people import by_name
from phonesim.toolkit.boxes import Pad, Row
from phonesim.toolkit.controls import Button, IconButton
from phonesim.toolkit.discs import Avatar
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Text
from phonesim.toolkit.widget import Widget

SWITCHES = {
    "mentions": "Tell me when I am mentioned",
    "autoplay": "Play videos at once",
    "sensitive_hidden": "Hide sensitive posts",
    "personal_ads": "Ads that know me",
}
PRIVACY = {"private": "Private account", "comments_allowed": "Allow comments"}


def person(ui: Ui, name: str) -> Window:
    posts = ui.facts.where(Post, lambda post: post.author == name)
    followed = ui.facts.find(Following, lambda each: each.person == name)
    blocked = ui.facts.find(BlockedAuthor, lambda each: each.person == name)

    def follow() -> None:
        if followed:
            ui.facts.remove(followed)
        else:
            ui.facts.add(Following(person=name))

    block = (
        Button(ui.tr("Unblock"), partial(ui.facts.remove, blocked), "danger")
        if blocked
        else Button(ui.tr("Block"), partial(ui.go, "confirm_block", name), "danger")
    )
    shown: list[Widget] = [
        Pad(Avatar(name, 88), top=18),
        Pad(Text(ui.tr(name), "title", align="centre"), bottom=0),
        Pad(
            Text(ui.tr("{count} posts", count=len(posts)), "small", "muted", align="centre"), top=2
        ),
        Pad(
            Row(
                [
                    Button(
                        ui.tr("Unfollow") if followed else ui.tr("Follow"),
                        follow,
                        "soft",
                        "user_add",
                    ),
                    block,
                ],
                align="spread",
            )
        ),
        Heading(ui.tr("Posts")),
    ]
    rows: list[Widget] = [
        ListRow(
            post.text,
            post.topic,
            trailing=ui.tr("{count} likes", count=post.likes),
            on_tap=partial(ui.go, "post", post.id),
        )
        for post in posts
    ]
    return ui.page(ui.tr("Profile"), [*shown, *(rows or [Empty(ui.tr("No posts yet"), "image")])])


def confirm_block(ui: Ui, name: str) -> Window:
    def block() -> None:
        ui.facts.remove_where(Following, lambda each: each.person == name)
        ui.facts.add(BlockedAuthor(person=name))
        ui.say(ui.tr("{name} is blocked", name=name))

    text = ui.tr(
        "You will not see each other any more, and you no longer follow {name}.", name=name
    )
    return ui.dialog(
        ui.tr("Block this person?"), text, {ui.tr("Cancel"): None, ui.tr("Block"): block}
    )


def following(ui: Ui) -> Window:
    rows = [
        ListRow(
            each.person,
            avatar=each.person,
            on_tap=partial(ui.go, "person", each.person),
            button=(
                "close",
                ui.tr("Unfollow {name}", name=each.person),
                partial(ui.facts.remove, each),
            ),
        )
        for each in sorted(ui.facts.all(Following), key=lambda each: each.person)
    ]
    return ui.page(ui.tr("People I follow"), rows or [Empty(ui.tr("You follow nobody"), "users")])


def suggestions(ui: Ui) -> Window:
    """A list of contacts whom the user neither follows nor blocks."""
    known = {each.person for each in ui.facts.all(Following)}
    known |= {each.person for each in ui.facts.all(BlockedAuthor)}

    def follow(name: str) -> None:
        ui.facts.add(Following(person=name))

    rows = [
        ListRow(
            contact.name,
            ui.tr("From your contacts"),
            avatar=contact.name,
            on_tap=partial(ui.go, "person", contact.name),
            button=(
                "user_add",
                ui.tr("Follow {name}", name=contact.name),
                partial(follow, contact.name),
            ),
        )
        for contact in by_name(ui.facts)
        if contact.name not in known
    ]
    return ui.page(
        ui.tr("People you may know"), rows or [Empty(ui.tr("You follow everybody"), "users")]
    )


def search(ui: Ui) -> Window:
    query = ui.text("query").strip().casefold()
    people = [c.name for c in by_name(ui.facts) if query and query in c.name.casefold()]
    rows: list[Widget] = [
        ListRow(name, avatar=name, on_tap=partial(ui.go, "person", name)) for name in people[:12]
    ]
    rows += [
        ListRow(post.text, ui.tr(post.author), icon="news", on_tap=partial(ui.go, "post", post.id))
        for post in ui.facts.all(Post)
        if query and query in post.text.casefold()
    ]
    empty = Empty(ui.tr("Nothing found") if query else ui.tr("People and posts"), "search")
    return ui.page(
        ui.tr("Search"),
        rows or [empty],
        head=Pad(ui.field("query", ui.tr("Search Feed"), icon="search"), sides=12, top=6, bottom=4),
    )


def settings(ui: Ui) -> Window:
    return ui.page(
        ui.tr("Feed settings"),
        [
            ListRow(ui.tr("Privacy"), icon="shield", on_tap=lambda: ui.go("privacy")),
            ListRow(ui.tr("Account"), icon="user", on_tap=lambda: ui.go("account")),
            *switch_rows(ui, FeedSettings, SWITCHES),
        ],
    )


def privacy(ui: Ui) -> Window:
    count = len(ui.facts.all(BlockedAuthor))
    return ui.page(
        ui.tr("Privacy"),
        [
            *switch_rows(ui, FeedSettings, PRIVACY),
            ListRow(
                ui.tr("Blocked people"),
                ui.tr("{count} blocked", count=count),
                icon="do_not_disturb",
                on_tap=lambda: ui.go("blocked"),
            ),
        ],
    )


def blocked(ui: Ui) -> Window:
    return blocked_people(ui, BlockedAuthor)


def account(ui: Ui) -> Window:
    own = ui.facts.one(FeedSettings)
    edit = partial(ui.go, "edit_profile", name=own.name, about=own.about)
    return ui.page(
        ui.tr("Account"),
        [
            ListRow(ui.tr("Edit profile"), own.name, icon="edit", on_tap=edit),
            Pad(Text(ui.tr("You can switch your account off and on again at any time."), "small")),
        ],
        foot=Pad(
            Button(ui.tr("Switch off account"), lambda: ui.go("confirm_deactivate"), "danger")
        ),
    )


def edit_profile(ui: Ui) -> Window:
    def save() -> None:
        name = ui.text("name").strip()
        if not name:
            ui.say(ui.tr("A name, please"))
            return
        ui.facts.change(FeedSettings, name=name, about=ui.text("about").strip())
        ui.back()

    return ui.page(
        ui.tr("Edit profile"),
        [
            Pad(ui.field("name", ui.tr("Name"), icon="user"), bottom=0),
            Pad(ui.field("about", ui.tr("About me"), lines=3)),
        ],
        actions=[IconButton("check", ui.tr("Save"), save)],
    )


def confirm_deactivate(ui: Ui) -> Window:
    off = partial(ui.facts.change, FeedSettings, active=False)
    text = ui.tr("Nobody can see your posts until you switch it on again.")
    return ui.dialog(
        ui.tr("Switch off account?"), text, {ui.tr("Cancel"): None, ui.tr("Switch off"): off}
    )
