"""The product lines of the simulated web: kinds of products, their makers, their details.

Tables only; `catalogue` generates products from them. Everything is invented. In `details`,
"{20-60}" stands for a number that differs between products.
"""

from __future__ import annotations

from typing import NamedTuple


class Line(NamedTuple):
    """A kind of product: names, price range in dollars, colours, options, details."""

    key: str
    title: str
    noun: str
    department: str
    low: int
    high: int
    colours: tuple[str, ...]
    option: str = ""
    choices: tuple[str, ...] = ()
    details: tuple[str, ...] = ()


DEPARTMENTS = ("Electronics", "Fashion", "Home", "Kitchen", "Outdoor", "Games & books")

TECH = ("black", "white", "grey", "blue", "red")
SOFT = ("blue", "green", "red", "yellow", "grey", "black", "pink")
WOOD = ("brown", "white", "black", "grey")
WARM = ("red", "orange", "white", "green", "blue")
CLOTHES_SIZES = ("S", "M", "L", "XL")
SHOE_SIZES = ("38", "40", "42", "44")
STORAGE = ("128 GB", "256 GB", "512 GB")

LINES: tuple[Line, ...] = (
    Line("headphones", "Headphones", "Headphones", "Electronics", 39, 349, TECH, "", (),
         ("Battery {20-60} hours", "Noise cancelling", "Folds flat")),
    Line("earbuds", "Earbuds", "Earbuds", "Electronics", 19, 249, TECH, "", (),
         ("Battery {5-12} hours", "Charging case", "Splash proof")),
    Line("laptop", "Laptops", "Laptop", "Electronics", 449, 2199, TECH[:3], "Storage", STORAGE,
         ("{13-17} inch screen", "{8-32} GB memory", "Battery {8-20} hours")),
    Line("phone", "Phones", "Phone", "Electronics", 199, 1199, TECH, "Storage", STORAGE,
         ("{5-7} inch screen", "{12-108} megapixels", "Two SIM cards")),
    Line("tablet", "Tablets", "Tablet", "Electronics", 149, 999, TECH[:4], "Storage", STORAGE,
         ("{8-13} inch screen", "Battery {8-16} hours", "Pen included")),
    Line("keyboard", "Keyboards", "Keyboard", "Electronics", 25, 219, TECH, "Keys",
         ("Quiet", "Clicky"), ("{61-105} keys", "Wireless", "Backlit")),
    Line("mouse", "Mice", "Mouse", "Electronics", 12, 129, TECH, "", (),
         ("{4-11} buttons", "Weighs {55-110} grams", "Wireless")),
    Line("monitor", "Monitors", "Monitor", "Electronics", 119, 899, TECH[:3], "", (),
         ("{22-38} inch", "{60-240} hertz", "Height adjustable")),
    Line("camera", "Cameras", "Camera", "Electronics", 249, 1899, TECH[:3], "", (),
         ("{16-60} megapixels", "Swivel screen", "Weighs {300-780} grams")),
    Line("speaker", "Speakers", "Speaker", "Electronics", 29, 399, TECH, "", (),
         ("{10-80} watts", "Battery {8-24} hours", "Waterproof")),
    Line("watch", "Watches", "Watch", "Electronics", 59, 459, TECH, "Strap", ("Small", "Large"),
         ("Battery {2-21} days", "Heart rate", "{30-100} metres water tight")),
    Line("charger", "Chargers", "Charger", "Electronics", 12, 89, TECH[:3], "", (),
         ("{20-140} watts", "{2-4} ports", "Foldable plug")),
    Line("cable", "Cables", "Cable", "Electronics", 6, 39, TECH, "Length", ("1 m", "2 m", "3 m"),
         ("Braided", "Up to {30-240} watts", "{2-10} years guarantee")),
    Line("router", "Routers", "Router", "Electronics", 49, 399, TECH[:2], "", (),
         ("{2-8} antennas", "For {60-220} square metres", "Guest network")),
    Line("printer", "Printers", "Printer", "Electronics", 69, 449, TECH[:3], "", (),
         ("{10-40} pages a minute", "Two sided", "Scanner")),
    Line("gamepad", "Gamepads", "Gamepad", "Games & books", 24, 149, TECH, "", (),
         ("Battery {10-40} hours", "Back paddles", "Rumble")),
    Line("backpack", "Backpacks", "Backpack", "Outdoor", 35, 189, SOFT, "", (),
         ("{14-45} litres", "Laptop sleeve", "Rain cover")),
    Line("shoes", "Shoes", "Shoes", "Fashion", 45, 199, SOFT, "Size", SHOE_SIZES,
         ("Recycled sole", "Weighs {200-420} grams", "Breathable")),
    Line("shirt", "Shirts", "Shirt", "Fashion", 15, 79, SOFT, "Size", CLOTHES_SIZES,
         ("Organic cotton", "{120-220} grams per square metre", "Machine wash")),
    Line("jacket", "Jackets", "Jacket", "Fashion", 59, 349, SOFT, "Size", CLOTHES_SIZES,
         ("{2-6} pockets", "Wind proof", "Hood")),
    Line("hat", "Hats", "Hat", "Fashion", 14, 69, SOFT, "Size", ("S", "M", "L"),
         ("Wool blend", "Hand wash", "Brim {4-9} centimetres")),
    Line("umbrella", "Umbrellas", "Umbrella", "Fashion", 12, 69, SOFT, "", (),
         ("{85-125} centimetres wide", "Wind proof", "{6-10} ribs")),
    Line("lamp", "Lamps", "Lamp", "Home", 19, 249, WARM, "", (),
         ("{5-20} watts", "Dimmable", "{30-160} centimetres tall")),
    Line("chair", "Chairs", "Chair", "Home", 49, 459, WOOD, "", (),
         ("Carries {100-150} kilograms", "Solid wood", "{2-5} years guarantee")),
    Line("desk", "Desks", "Desk", "Home", 99, 699, WOOD, "", (),
         ("{100-180} centimetres wide", "Cable tray", "{2-4} drawers")),
    Line("plant", "Plants", "Plant", "Home", 9, 89, ("green", "red", "pink", "yellow"), "", (),
         ("{20-140} centimetres tall", "Likes shade", "Pot included")),
    Line("pillow", "Pillows", "Pillow", "Home", 15, 119, SOFT, "", (),
         ("{40-80} centimetres", "Washable cover", "Down free")),
    Line("blanket", "Blankets", "Blanket", "Home", 19, 159, SOFT, "", (),
         ("{130-220} centimetres long", "Wool", "Machine wash")),
    Line("clock", "Clocks", "Clock", "Home", 14, 139, WARM, "", (),
         ("{15-45} centimetres wide", "Silent", "Battery included")),
    Line("vacuum", "Vacuum cleaners", "Vacuum", "Home", 79, 649, TECH, "", (),
         ("{60-84} decibels", "{1-4} litre bin", "Runs {20-70} minutes")),
    Line("drill", "Drills", "Drill", "Home", 39, 279, WARM, "", (),
         ("{12-36} volts", "{2-4} gears", "Case included")),
    Line("toothbrush", "Toothbrushes", "Toothbrush", "Home", 15, 189, TECH, "", (),
         ("Battery {10-60} days", "{2-6} modes", "Travel case")),
    Line("kettle", "Kettles", "Kettle", "Kitchen", 19, 139, WARM, "", (),
         ("{2-3} litres", "Keeps warm", "{1500-3000} watts")),
    Line("pan", "Pans", "Pan", "Kitchen", 18, 169, TECH[:3], "Size", ("24 cm", "28 cm"),
         ("Cast iron", "Oven proof", "{2-4} kilograms")),
    Line("knife", "Knives", "Knife", "Kitchen", 14, 189, TECH[:3], "", (),
         ("{9-24} centimetre blade", "{54-62} Rockwell", "Sheath included")),
    Line("mug", "Mugs", "Mug", "Kitchen", 7, 39, WARM, "", (),
         ("{200-450} millilitres", "Dishwasher proof", "Stoneware")),
    Line("blender", "Blenders", "Blender", "Kitchen", 29, 299, WARM, "", (),
         ("{300-1600} watts", "{1-2} litre jug", "{2-10} speeds")),
    Line("bottle", "Bottles", "Bottle", "Outdoor", 9, 49, SOFT, "Volume", ("0.5 l", "1 l"),
         ("Cold for {12-36} hours", "Steel", "Leak proof")),
    Line("ball", "Balls", "Ball", "Outdoor", 9, 79, WARM, "", (),
         ("Size {3-7}", "Hand stitched", "Pump included")),
    Line("tent", "Tents", "Tent", "Outdoor", 79, 599, WARM, "", (),
         ("For {2-6} people", "{2-8} kilograms", "Two doors")),
    Line("bicycle", "Bicycles", "Bicycle", "Outdoor", 299, 1899, SOFT, "Frame", ("M", "L"),
         ("{3-24} gears", "{9-17} kilograms", "Disc brakes")),
    Line("guitar", "Guitars", "Guitar", "Games & books", 99, 999, ("brown", "black", "red"), "", (),
         ("{6-12} strings", "Spruce top", "Bag included")),
    Line("book", "Books", "", "Games & books", 8, 39, SOFT, "Cover", ("Paperback", "Hardcover"),
         ("{180-720} pages", "In English", "Printed on recycled paper")),
    Line("puzzle", "Puzzles", "Puzzle", "Games & books", 9, 49, SOFT, "", (),
         ("{100-3000} pieces", "From {4-12} years", "Poster included")),
)  # fmt: skip

MAKERS: dict[str, tuple[str, ...]] = {
    "Electronics": ("Halden", "Orvane", "Kestrova", "Tovik", "Lumenor", "Sablet"),
    "Fashion": ("Mirelle", "Wrenfield", "Pellaro", "Ostrel", "Solwyn"),
    "Home": ("Fjelka", "Nordell", "Aldane", "Brisca", "Quenby"),
    "Kitchen": ("Brisca", "Marrick", "Calyth", "Fjelka", "Tarrow"),
    "Outdoor": ("Rusken", "Dovrek", "Ivorn", "Solwyn", "Tarrow"),
    "Games & books": ("Ambrel", "Kestrova", "Quenby", "Orvane"),
}
AUTHORS = (
    "Ines Corvale", "Tobin Marsh", "Odile Renn", "Pavel Strand", "Maud Ellery", "Jun Asher",
)  # fmt: skip
CODES = (
    "K2", "M5", "A9", "X30", "T7", "S40", "R3", "V12", "E8", "N60", "Q1", "L25", "P14", "H6",
    "Pro 2", "Air 3", "Max 4", "Mini 5", "Lite 6", "Neo 7", "One", "Duo", "Plus 8", "Ultra 9",
)  # fmt: skip
WORDS = (
    "Birch", "Harbor", "Meadow", "Ember", "Drift", "Summit", "Willow", "Juniper", "Cobalt", "Fern",
    "Dune", "Maple", "Lagoon", "Thistle", "Orchard", "Pebble", "Saffron", "Tundra", "Breeze",
    "Canyon", "Clover", "Heron", "Ivy", "Marble", "Nimbus", "Olive", "Quartz", "Raven", "Sorrel",
    "Topaz",
)  # fmt: skip
TITLES = (
    "The Copper Orchard", "A Map of Small Rivers", "Winter at Low Tide", "The Ninth Lantern",
    "Salt and Thunder", "The Clockmaker's Dog", "Letters from Velmark", "Seven Quiet Rooms",
    "The Paper Lighthouse", "Under a Tin Moon", "The Last Ferry Home", "Bread for Beginners",
)  # fmt: skip
