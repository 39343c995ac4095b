"""Which labels are blocked on somebody's phone, and which only look like it."""

from __future__ import annotations

import pytest

from distrl.devices.safety.blocked_words import blocked_word, blocked_words


@pytest.mark.parametrize(
    "label",
    [
        "Power off", "Restart", "Delete", "Clear data", "Erase all data (factory reset)",
        "Sign out", "UNINSTALL", "Ausschalten", "Löschen", "Apagar", "Supprimer", "关机", "再起動",
        "Удалить всё", "삭제하기", "भुगतान करें", "إرسال الآن", "מחק הכול", "ชำระเงินตอนนี้",
        "Usuń konto", "Verwijderen?", "Satın al", "Xóa dữ liệu",
        "Factory data reset", "Reset network settings", "Reset", "Shutdown", "Switch off", "SOS",
        "Logout", "Sign-out", "Sign\u2011out", "Log off", "Log-off", "Remove app", "Empty trash",
        "Move to bin", "Check out", "Check-out", "Cerrar la sesión", "工場出荷状態に戻す",
        "S\u2019abonner", "Sign\xa0\nout", "Lo\u0308schen", "De\u00adlete", "ＤＥＬＥＴＥ",
    ],
)  # fmt: skip
def test_what_cannot_be_undone_is_blocked(label: str) -> None:
    assert blocked_word(label, blocked_words())


@pytest.mark.parametrize(
    ("label", "word"),
    [
        ("Send", "send"),
        ("SEND MESSAGE", "send"),
        ("Sender", ""),
        ("Pay €12.99", "pay"),
        ("Payload", ""),
        ("Uninstall", "uninstall"),
        ("Erase all data (factory reset)", "erase"),
        ("Jetzt bezahlen", "bezahlen"),
        ("Désinstaller", "désinstaller"),
        ("确认支付订单", "支付"),
        ("Recall", ""),
        ("Reset network settings", "reset network settings"),
        ("Resetting", ""),
        ("Switch off-screen", "switch off"),
        ("Soso", ""),
        ("Check the outside", ""),
        ("", ""),
    ],
)
def test_blocked_words(label: str, word: str) -> None:
    assert blocked_word(label, blocked_words()) == word
