"""What belongs together is shown together: posts with their pictures, dishes, cards."""

from __future__ import annotations

import pytest
from tests.phonesim.apps.everyday.test_install import everyday_phone

from phonesim.apps.everyday.wallet_cards import FACES
from phonesim.contents.everyday.meals import RESTAURANTS
from phonesim.contents.everyday.money import CARDS
from phonesim.contents.everyday.posts import FITTING, REMARKS, STORIES, TOPICS, Comment, Post
from phonesim.drawing.dishes import DISHES
from phonesim.drawing.photographs import SAME_AS, SCENES


@pytest.mark.parametrize("seed", range(4))
def test_a_post_has_the_topic_the_picture_and_the_remarks_of_its_words(seed: int) -> None:
    facts = everyday_phone(seed).facts
    for post in facts.all(Post):
        topic, pictures = STORIES[post.text]
        assert (post.topic, post.picture in pictures) == (topic, True)
        for comment in facts.all(Comment):
            if comment.post == post.id:
                assert comment.text in FITTING[""] + FITTING.get(topic, ())


def test_every_picture_of_a_post_can_be_drawn_and_every_topic_is_known() -> None:
    known = {"photo": {*SCENES, *SAME_AS}, "dish": {*DISHES}, "cover": set[str]()}
    for topic, pictures in STORIES.values():
        assert topic in TOPICS
        for kind, _, name in (picture.partition(":") for picture in pictures if picture):
            assert name in known[kind] or kind == "cover"
    assert {remark for remarks in FITTING.values() for remark in remarks} <= set(REMARKS)


def test_every_dish_on_a_menu_is_drawn_as_what_it_is() -> None:
    menu = {dish.name for restaurant in RESTAURANTS for dish in restaurant.dishes}
    assert menu <= DISHES.keys()


def test_no_two_cards_look_the_same() -> None:
    assert len(set(FACES)) == len(CARDS)
