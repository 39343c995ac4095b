"""Strokes of the icons that belong to the phone: calls, status bar, shade, keyboard, navigation.

`icons` explains the syntax.
"""

_BATTERY = "box 9.5 2 14.5 5 .5;"
_BELL = "petal 4.5 17.5 / 6.5 15 6.8 9.5 9 6 12 4.8 15 6 17.2 9.5 17.5 15 19.5 17.5 /"

PHONE: dict[str, str] = {
    # calls
    "phone": (
        "blob 4 4.2 / 8.4 3.8 / 10 8.7 / 7.5 10.8 / 9.9 14.1 13.2 16.5 / 15.3 14 / 20.2 15.6 "
        "/ 19.8 20 / 13 18.7 8.5 15.5 5.3 11 /"
    ),
    "hangup": (
        "curve@4 4.5 13.8 8 11.4 12 10.6 16 11.4 19.5 13.8; box 2 12.2 7.8 17.3 1.2; "
        "box 16.2 12.2 22 17.3 1.2"
    ),
    "dialpad": (
        "disc 6 4.5 1.8; disc 12 4.5 1.8; disc 18 4.5 1.8; disc 6 10 1.8; disc 12 10 1.8; "
        "disc 18 10 1.8; disc 6 15.5 1.8; disc 12 15.5 1.8; disc 18 15.5 1.8; disc 12 20.8 1.8"
    ),
    "voicemail": "ring 6.5 12 4; ring 17.5 12 4; line 6.5 16 17.5 16",
    "incoming": "line 18.5 5.5 6 18; line 15.5 18.5 5.5 18.5 5.5 8.5",
    "outgoing": "line 5.5 18.5 18 6; line 8.5 5.5 18.5 5.5 18.5 15.5",
    "missed": "line 3.5 7 12 15.5 20.5 7; line 3.5 13 3.5 7 9.5 7",
    # status bar and shade
    "battery": f"{_BATTERY} box 6.5 4 17.5 22 2",
    "battery_low": f"{_BATTERY} frame 7.5 5 16.5 21 1; box 8 16.5 16 20.5 0",
    "charging": (
        f"{_BATTERY} box 6.5 4 17.5 22 2; cut shape 13 7 8.8 14 11.5 14 11 18.5 15.2 11.5 12.5 11.5"
    ),
    "signal": (
        "box 2.5 16 6 21 .6; box 7.7 12 11.2 21 .6; box 12.9 7.5 16.4 21 .6; box 18.1 3 21.6 21 .6"
    ),
    "wifi": (
        "disc 12 18.8 2.1; arc@2.4 12 19 6 225 315; arc@2.4 12 19 10.4 225 315; "
        "arc@2.4 12 19 14.8 225 315"
    ),
    "airplane": (
        "shape 12 2.2 13.3 3.6 13.3 9.3 21 14 21 15.6 13.3 13.2 13.3 18.6 15.6 20.3 15.6 "
        "21.5 12 20.5 8.4 21.5 8.4 20.3 10.7 18.6 10.7 13.2 3 15.6 3 14 10.7 9.3 10.7 3.6"
    ),
    "bluetooth": "line 6.5 7.5 17 16.5 12 21 12 3 17 7.5 6.5 16.5",
    "flashlight": (
        "loop 7 3 17 3 17 6.5 14.8 10 14.8 21 9.2 21 9.2 10 7 6.5; line 7 6.7 17 6.7; "
        "line 12 12.5 12 14.5"
    ),
    "rotate": "loop 9 4.8 19.2 15 15 19.2 4.8 9; arc 12 12 9.3 -75 -15; arc 12 12 9.3 105 165",
    "hotspot": "disc 12 13 2.4; arc 12 13 5.3 145 395; arc 12 13 9.3 145 395",
    "nfc": "frame 3.5 3.5 20.5 20.5 3; line 8.3 16 8.3 8 15.7 16 15.7 8",
    "vibrate": (
        "frame 8.5 4 15.5 20 1.5; line 5 8.5 5 15.5; line 1.8 10.5 1.8 13.5; "
        "line 19 8.5 19 15.5; line 22.2 10.5 22.2 13.5"
    ),
    "bell": f"{_BELL}; disc 12 20.5 1.7",
    "bell_off": f"{_BELL}; disc 12 20.5 1.7; cut line@5 4 4 20 20; line 4 4 20 20",
    "sound": (
        "shape 4 9.7 7.5 9.7 12.5 5.2 12.5 18.8 7.5 14.3 4 14.3; line 16 9.5 16 14.5; "
        "line 20 6.5 20 17.5"
    ),
    "do_not_disturb": "ring 12 12 9; line 8 12 16 12",
    "brightness": "disc 12 12 4.6; rays 12 12 8 9.2 8",
    "dark_mode": "ring 12 12 9; blob 12 3.5 / 18 6 20.5 12 18 18 12 20.5 /",
    "battery_saver": f"{_BATTERY} frame 7.5 5 16.5 21 1; line 12 10 12 16; line 9.5 13 14.5 13",
    "data": (
        "line 7.5 20 7.5 5; line 3.5 8.7 7.5 4.7 11.5 8.7; line 16.5 4 16.5 19; "
        "line 12.5 15.3 16.5 19.3 20.5 15.3"
    ),
    "location_off": (
        "petal 12 21.5 / 7 15 5 9.6 7 4.8 12 2.8 17 4.8 19 9.6 17 15; disc 12 9.6 2.6; "
        "cut line@5 4 4 20 20; line 4 4 20 20"
    ),
    "cast": (
        "line 3 8 3 5 21 5 21 19 14.5 19; disc 4.2 18.8 1.7; arc 3 20 5.5 -90 0; arc 3 20 9.5 -90 0"
    ),
    "screenshot": (
        "frame 6 2.8 18 21.2 2; line 9.3 9.5 9.3 6.8 12 6.8; line 14.7 14.5 14.7 17.2 12 17.2"
    ),
    # settings
    "language": (
        "line 3 6 13.5 6; line 8.2 3.5 8.2 6; curve 11.5 6 10 10 4 14.3; "
        "curve 5.5 9 8 12.2 11.5 14; line 12.3 20.5 16.8 10.5 21.3 20.5; line 14 17.2 19.6 17.2"
    ),
    "keyboard_icon": (
        "frame 2.5 6 21.5 18.5 2; disc 6.5 10 1.2; disc 10.2 10 1.2; disc 13.8 10 1.2; "
        "disc 17.5 10 1.2; line 8.3 14.7 15.7 14.7"
    ),
    "apps": (
        "disc 5 5 2; disc 12 5 2; disc 19 5 2; disc 5 12 2; disc 12 12 2; disc 19 12 2; "
        "disc 5 19 2; disc 12 19 2; disc 19 19 2"
    ),
    "app": "frame 4 4 20 20 5; shape 12 8.3 15.7 12 12 15.7 8.3 12",
    "storage": (
        "ring 12 5.7 8 2.8; line 4 5.7 4 18.3; line 20 5.7 20 18.3; arc 12 12 8 0 180 2.8; "
        "arc 12 18.3 8 0 180 2.8"
    ),
    "accessibility": (
        "disc 12 4 2.1; line 4.5 8.3 10 9.5 14 9.5 19.5 8.3; line 10 9.5 10 14 8.3 21; "
        "line 14 9.5 14 14 15.7 21; line 10 12 14 12; line 10 14 14 14"
    ),
    "developer": (
        "line 7.5 6.5 2.5 12 7.5 17.5; line 16.5 6.5 21.5 12 16.5 17.5; line 13.7 4.5 10.3 19.5"
    ),
    "display": "frame 6 2.8 18 21.2 2; disc 12 9.8 2.6; line 10 17.8 14 17.8",
    "wallpaper": (
        "frame 4 3.5 20 20.5 2; disc 15.5 8 1.8; line 4.5 17.5 9.5 11.5 13 15.5 15.3 13.2 19.5 17.5"
    ),
    "puzzle": (
        "petal 4 8 / 8.3 8 / 7.5 4.5 10.2 3.2 12.9 4.5 12.1 8 / 16.5 8 / 16.5 11.6 / 20 10.8 "
        "21.2 13.6 20 16.4 16.5 15.6 / 16.5 20.3 / 4 20.3 /"
    ),
    "fingerprint": (
        "arc 12 11.5 8 190 350; line 20 10.5 20 14; arc 12 12 4.5 180 360; line 7.5 12 7.5 17; "
        "line 16.5 12 16.5 19.5; line 12 12 12 20.5"
    ),
    # keyboard and navigation
    "shift": "loop 12 3.5 20.3 12 16 12 16 19.5 8 19.5 8 12 3.7 12",
    "backspace": "loop 8 5 21.5 5 21.5 19 8 19 2.5 12; line 11.5 9 17.5 15; line 17.5 9 11.5 15",
    "enter": "line 20 5.5 20 12.5 5 12.5; line 10.3 7 4.8 12.5 10.3 18",
    "nav_back": "shape 17 5 17 19 5.5 12",
    "nav_home": "ring 12 12 7",
    "nav_recents": "frame 5.5 5.5 18.5 18.5 2",
}
