"""Posts, comments, people and reports in Feed, and the lists beside its timelines."""

from __future__ import annotations

import pytest
from tests.phonesim.apps.everyday.test_install import everyday_phone
from tests.phonesim.conftest import Use

from phonesim.apps.everyday.feed_writing import MAX_LETTERS
from phonesim.contents.everyday.posts import (
    ME,
    ONLY_ME,
    BlockedAuthor,
    Comment,
    FeedSettings,
    Following,
    Post,
    PostReport,
)
from phonesim.contents.people import Contact
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.tasks.moves import Fill, GoBack, Open, Press, Reveal


@pytest.fixture
def phone() -> Phone:
    return everyday_phone(1)


def menu(use: Use, page: str) -> None:
    use(Open("Feed"), Press("Menu"), Press(page))


def newest(phone: Phone) -> Post:
    """The newest post of somebody whom we follow, which stands at the top."""
    followed = {each.person for each in phone.facts.all(Following)}
    posts = [post for post in phone.facts.all(Post) if post.author in followed]
    return max(posts, key=lambda post: (post.time, post.id))


def test_a_post_says_who_may_see_it(phone: Phone, use: Use) -> None:
    use(Open("Feed"), Press("New post"), Fill("What is on your mind?", "Nobody reads this"))
    use(Press("Audience"), Press(ONLY_ME), Press("Post"))
    post = phone.facts.all(Post)[-1]
    assert (post.author, post.text, post.audience) == (ME, "Nobody reads this", ONLY_ME)
    use(Press("Me", role="tab"), Reveal("Nobody reads this"))


def test_what_is_too_long_is_not_posted_and_not_lost(phone: Phone, use: Use) -> None:
    count, long = len(phone.facts.all(Post)), "a" * (MAX_LETTERS + 1)
    use(Open("Feed"), Press("New post"), Fill("What is on your mind?", long), Press("Post"))
    assert phone.routes[-1].page == "too_long"
    assert len(phone.facts.all(Post)) == count
    use(Press("Go back"))
    assert phone.routes[-1].memory["text"] == long


def test_likes_and_comments_belong_to_their_post(phone: Phone, use: Use) -> None:
    post = newest(phone)
    use(Open("Feed"), Press(post.text), Press("Like"), Fill("Add a comment", "Where is it?"))
    use(Press("Send comment"))
    after = phone.facts.get(Post, post.id)
    assert (after.liked, after.likes) == (True, post.likes + 1)
    said = phone.facts.all(Comment)[-1]
    assert (said.post, said.author, said.text) == (post.id, ME, "Where is it?")
    use(GoBack(), GoBack(), Press("Menu"), Press("Liked posts"), Reveal(post.text))


def test_whoever_is_blocked_is_no_longer_seen_or_followed(phone: Phone, use: Use) -> None:
    post = newest(phone)
    use(Open("Feed"), Press(post.text), Press("More options"), Press("Block author"))
    use(Press("Block"))
    assert [each.person for each in phone.facts.all(BlockedAuthor)] == [post.author]
    assert post.author not in {each.person for each in phone.facts.all(Following)}
    use(GoBack())
    assert not Finger(phone).sees(post.text)


def test_a_report_can_be_taken_back(phone: Phone, use: Use) -> None:
    post = newest(phone)
    use(Open("Feed"), Press(post.text), Press("More options"), Press("Report"), Press("Spam"))
    assert [(each.post, each.reason) for each in phone.facts.all(PostReport)] == [(post.id, "Spam")]
    use(Press("Close"), GoBack())
    menu(use, "My reports")
    use(Press(f"Take back {post.text}"), Reveal("You reported nothing"))
    assert not phone.facts.all(PostReport)


def test_suggestions_are_contacts_whom_we_do_not_follow(phone: Phone, use: Use) -> None:
    followed = {each.person for each in phone.facts.all(Following)}
    person = min(c.name for c in phone.facts.all(Contact) if c.name not in followed)
    menu(use, "People you may know")
    assert not Finger(phone).labels & followed
    use(Press(f"Follow {person}"))
    assert phone.facts.all(Following)[-1].person == person
    assert not Finger(phone).sees(person)


def test_news_are_what_others_said_about_our_posts(phone: Phone, use: Use) -> None:
    menu(use, "News for you")
    use(Reveal("Nothing new"))
    own = phone.facts.add(Post(author=ME, text="My boat", time=phone.now))
    phone.facts.add(Comment(post=own.id, author="Ada", text="May I come along?"))
    phone.facts.add(Comment(post=own.id, author=ME, text="Sure"))
    phone.refresh()
    use(Press("Ada commented"))
    assert (phone.routes[-1].page, phone.routes[-1].args) == ("post", (own.id,))
    assert not Finger(phone).sees("You commented")


def test_topics_lead_to_their_posts(phone: Phone, use: Use) -> None:
    post = newest(phone)
    menu(use, "All topics")
    use(Press(post.topic, role="row"), Reveal(post.text))


def test_an_account_that_is_off_shows_nothing_until_it_is_on(phone: Phone, use: Use) -> None:
    menu(use, "Feed settings")
    use(Press("Account"), Press("Switch off account"), Press("Switch off"))
    assert not phone.facts.one(FeedSettings).active
    use(Open("Feed"))
    while len(phone.routes) > 1:
        use(GoBack())
    use(Press("Switch it on again"))
    assert phone.facts.one(FeedSettings).active
