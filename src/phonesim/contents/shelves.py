"""The contents of the small apps from the store: a few items each."""

from __future__ import annotations

from typing import NamedTuple


class Item(NamedTuple):
    """An item of an app: its title, a second line, and the text on its own page."""

    title: str
    detail: str
    text: str


SHELVES: dict[str, tuple[Item, ...]] = {
    "Translator": (
        Item("Good morning", "Portuguese", "Bom dia"),
        Item("Thank you very much", "Italian", "Grazie mille"),
        Item("Where is the station?", "German", "Wo ist der Bahnhof?"),
        Item("The bill, please", "Spanish", "La cuenta, por favor"),
        Item("See you tomorrow", "French", "À demain"),
    ),
    "Compass": (
        Item("North", "0°", "The needle points here."),
        Item("East", "90°", "Where the sun rises, more or less."),
        Item("South", "180°", "Warm side of the house."),
        Item("West", "270°", "Where the sun sets."),
    ),
    "Fitness": (
        Item("Morning stretch", "10 min · easy", "Six stretches, half a minute each side."),
        Item("Stairs", "15 min · medium", "Up at speed, down slowly, five times."),
        Item("Plank ladder", "8 min · hard", "20, 30, 40, 50, 60 seconds with rests."),
        Item("Evening walk", "30 min · easy", "No phone, no hurry."),
    ),
    "Yoga": (
        Item("Sun greeting", "12 poses", "Breathe in up, breathe out down."),
        Item("Tree", "Balance", "A foot against the other leg; eyes on one point."),
        Item("Bridge", "Back", "Shoulders stay on the mat."),
        Item("Rest", "5 min", "Lie down and do nothing at all."),
    ),
    "Sleep": (
        Item("Rain on a tent", "60 min", "Steady rain, far thunder."),
        Item("Night train", "45 min", "Rails, and now and then a bridge."),
        Item("Wind in pines", "60 min", "Up on a ridge."),
        Item("Old fan", "90 min", "It hums."),
    ),
    "Recipes": (
        Item("Lentil soup", "35 min · 4 people", "Onion, carrots, red lentils, cumin, lemon."),
        Item("Pasta with greens", "20 min · 2 people", "Chard, garlic, chilli, hard cheese."),
        Item("Baked potatoes", "60 min · 4 people", "Salt, patience, sour cream, chives."),
        Item("Shakshuka", "25 min · 2 people", "Tomatoes, peppers, eggs, good bread."),
    ),
    "Baking": (
        Item("Country loaf", "24 hours", "Flour, water, salt, starter; fold four times."),
        Item("Oat biscuits", "30 min", "Butter, oats, sugar, a little cinnamon."),
        Item("Apple cake", "70 min", "Sour apples are best."),
        Item("Cinnamon buns", "2 hours", "Roll thin, sugar thickly."),
    ),
    "Brew": (
        Item("Pour-over", "3 min", "15 g coffee, 250 g water at 94°."),
        Item("Moka pot", "5 min", "Low heat, lid open."),
        Item("Green tea", "2 min", "Water at 75°, no more."),
        Item("Iced coffee", "12 hours", "Coarse, cold, overnight."),
    ),
    "News": (
        Item("New bridge opens", "City · today", "Cyclists were the first across."),
        Item("Library stays open late", "Culture · today", "Until midnight on Thursdays."),
        Item("Quiet season for storms", "Weather · yesterday", "Forecasters are surprised."),
        Item("Local team wins", "Sport · yesterday", "Three to one, after a slow start."),
    ),
    "Podcasts": (
        Item("The Long Commute", "Episode 41", "A bus driver on forty years of one route."),
        Item("Small Machines", "Episode 12", "How a zip works, and who thought of it."),
        Item("Salt and Time", "Episode 7", "Why pickles crunch."),
        Item("Night Gardeners", "Episode 23", "Plants that open after dark."),
    ),
    "Radio": (
        Item("Harbour FM", "94.2 · talk", "Ships, tides and the morning paper."),
        Item("Blue Room", "101.7 · jazz", "No announcements between songs."),
        Item("Static Garden", "88.9 · ambient", "Sounds from outside."),
        Item("Gold Hour", "97.0 · oldies", "Songs your aunt knows."),
    ),
    "Chess": (
        Item("Mate in one", "White moves", "The queen to the seventh rank."),
        Item("Mate in two", "Black moves", "Give up the knight first."),
        Item("Quiet move", "White moves", "The rook steps back."),
        Item("Endgame", "Pawns and kings", "Keep the opposition."),
    ),
    "Sudoku": (
        Item("Easy grid", "36 given", "Start with the corners."),
        Item("Medium grid", "30 given", "Look for the pairs."),
        Item("Hard grid", "26 given", "Pencil marks help."),
        Item("Daily grid", "Today", "Everybody gets the same one."),
    ),
    "Solitaire": (
        Item("Klondike", "Draw one", "The one that everybody knows."),
        Item("Spider", "Two suits", "Empty columns are worth gold."),
        Item("Free cells", "All open", "Nearly every deal can be won."),
        Item("Pyramid", "Pairs of 13", "Kings go alone."),
    ),
    "Bank": (
        Item("Current account", "1,284.50", "Salary on the 28th; rent on the 1st."),
        Item("Savings", "6,020.00", "Interest is paid in December."),
        Item("Card", "Ends in 0417", "Limit 1,500 a month."),
        Item("Standing orders", "3", "Rent, gym, electricity."),
    ),
    "Budget": (
        Item("Food", "212 of 300", "A week is left in this month."),
        Item("Travel", "48 of 120", "Under plan."),
        Item("Fun", "95 of 100", "Careful now."),
        Item("Home", "610 of 640", "Rent and light bulbs."),
    ),
    "Markets": (
        Item("Northern Rail", "+1.2 %", "Opened higher after the summer timetable."),
        Item("Kestrel Foods", "-0.4 %", "Wheat became dearer."),
        Item("Amber Energy", "+0.3 %", "A windy week."),
        Item("Lumen Glass", "-2.1 %", "A furnace is being repaired."),
    ),
}
