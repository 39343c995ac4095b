"""What a run says is told once to whoever asks, also when it is another process by now."""

from __future__ import annotations

from distrl.engine.ray.remote_view import KEPT, RemoteView


def test_every_sentence_is_told_once() -> None:
    view = RemoteView()
    view.say("one")
    first = view.since(None)
    view.say("two")
    view.say("three")
    second = view.since(first)
    assert (first.sentences, second.sentences) == (("one",), ("two", "three"))
    assert view.since(second).sentences == ()


def test_a_new_process_begins_anew() -> None:
    before, after = RemoteView(), RemoteView()
    for number in range(5):
        before.say(str(number))
    after.say("back")
    assert after.since(before.since(None)).sentences == ("back",)


def test_what_nobody_asks_for_is_not_kept_for_ever() -> None:
    view = RemoteView()
    last = view.since(None)
    for number in range(KEPT + 10):
        view.say(str(number))
    told = view.since(last).sentences
    assert len(told) == KEPT
    assert told[-1] == str(KEPT + 9)
