"""Without a network the everyday apps say so, keep what they have, and send nothing."""

from __future__ import annotations

import pytest
from tests.phonesim.apps.everyday.test_install import NAMES, everyday_phone
from tests.phonesim.conftest import Use

from phonesim.app import App
from phonesim.apps.everyday import EVERYDAY_APPS
from phonesim.apps.page_names import page_names
from phonesim.contents.everyday.threads import ChatMessage, ChatThread
from phonesim.finger import Finger
from phonesim.languages.language import FOLDERS
from phonesim.phone import Phone
from phonesim.state import Route
from phonesim.system import SystemSettings, switch
from phonesim.tasks.moves import Fill, Open, Press


@pytest.fixture
def phone() -> Phone:
    phone = everyday_phone(1)
    switch(phone.facts, "airplane_mode", on=True)
    phone.refresh()
    return phone


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("speaks", FOLDERS)
def test_each_says_so_until_there_is_a_network(phone: Phone, name: str, speaks: str) -> None:
    finger = Finger(phone)
    phone.facts.change(SystemSettings, language=speaks)
    tr = phone.language.tr
    finger.open(name)
    assert finger.sees(tr("You are offline"))
    finger.tap(tr("Try again"))
    assert finger.sees(tr("Still offline"))
    switch(phone.facts, "airplane_mode", on=False)
    phone.refresh()
    assert not finger.sees(tr("You are offline"))


def test_mobile_data_alone_is_a_network_and_other_apps_need_none(phone: Phone) -> None:
    finger = Finger(phone)
    finger.open("Notes")
    assert not finger.sees("You are offline")
    phone.facts.change(SystemSettings, airplane_mode=False, wifi=False, mobile_data=True)
    finger.open("Wallet")
    assert not finger.sees("You are offline")
    phone.facts.change(SystemSettings, mobile_data=False)
    phone.refresh()
    assert finger.sees("You are offline")


@pytest.mark.parametrize("app", EVERYDAY_APPS, ids=NAMES)
def test_pages_that_need_it_are_pages_of_the_app_and_give_way(phone: Phone, app: App) -> None:
    assert app.network_pages <= {*page_names(app)} - {"home"}
    finger = Finger(phone)
    phone.launch(app.name)
    for page in sorted(app.network_pages):
        phone.push(Route(page))
        assert finger.sees("No connection"), page
        phone.pop()


def test_nothing_is_sent_and_the_draft_stays(phone: Phone, use: Use) -> None:
    thread = phone.facts.all(ChatThread)[0]
    count = len(phone.facts.all(ChatMessage))
    use(Open("Chat"), Press(thread.title, role="row"), Fill("Message", "Later"), Press("Send"))
    assert len(phone.facts.all(ChatMessage)) == count
    switch(phone.facts, "airplane_mode", on=False)
    phone.refresh()
    use(Press("Send"))
    assert phone.facts.all(ChatMessage)[-1].text == "Later"


def test_no_money_leaves_the_wallet(phone: Phone, use: Use) -> None:
    use(Open("Wallet"), Press("Send", role="button"))
    assert Finger(phone).sees("No connection")
    assert not Finger(phone).sees("Search people")
