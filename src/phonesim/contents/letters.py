"""The initial mails in the mailboxes, from invented shops and clubs."""

from __future__ import annotations

from typing import NamedTuple


class Letter(NamedTuple):
    """A mail that any phone's owner could have received."""

    sender: str
    address: str
    subject: str
    body: str


LETTERS: tuple[Letter, ...] = (
    Letter(
        "Harbour Rowing Club",
        "crew@harbourrowing.example",
        "Spring training plan",
        "Hello rowers,\n\nfrom next week we train on Tuesdays and Thursdays at six. "
        "Bring warm clothes, the wind on the water is still cold.\n\nSee you at the boathouse!",
    ),
    Letter(
        "Oakroot Library",
        "desk@oakroot.example",
        "Two books are due soon",
        "Dear reader,\n\ntwo books are due in three days. You can renew them at the desk.\n\n"
        "Your library",
    ),
    Letter(
        "Copper Kettle",
        "hello@copperkettle.example",
        "New teas for cold evenings",
        "Smoky, flowery, or with a pinch of pepper: eleven new teas have arrived.\n\n"
        "Come in and taste them, the kettle is always on.",
    ),
    Letter(
        "Green Street School",
        "office@greenstreet.example",
        "Summer fair needs helpers",
        "Dear parents,\n\nwe are looking for people who bake, build or paint. "
        "Please tell us by the end of the month.\n\nThe fair team",
    ),
    Letter(
        "Meadow Energy",
        "service@meadowenergy.example",
        "Your yearly statement",
        "Dear customer,\n\nyou used a little less than last year. Thank you for saving energy.\n\n"
        "Nothing is left to do for you.",
    ),
    Letter(
        "Lantern Cinema",
        "tickets@lanterncinema.example",
        "Silent film night",
        "A pianist, a projector and a film from a hundred years ago: this Sunday at eight.\n\n"
        "Seats are few, so come early.",
    ),
    Letter(
        "Wren Cycles",
        "workshop@wrencycles.example",
        "Your bicycle is ready",
        "Hello,\n\nnew brake pads, a true wheel and a fresh chain: it runs like new. "
        "You can pick it up until seven.\n\nThe workshop",
    ),
    Letter(
        "Hillside Choir",
        "notes@hillsidechoir.example",
        "Concert programme",
        "Dear singers,\n\nhere is the order of the songs. Please learn the second verse by heart."
        "\n\nWe meet half an hour before the concert.",
    ),
    Letter(
        "Pigeon Parcels",
        "track@pigeonparcels.example",
        "We left a parcel next door",
        "Nobody opened, so your neighbour took the parcel.\n\nKind greetings from your carrier",
    ),
    Letter(
        "Juniper Housing",
        "office@juniperhousing.example",
        "Stairwell will be painted",
        "Dear tenants,\n\nthe painters come on Wednesday. Please keep the stairwell free.\n\n"
        "The colour will be a light grey.",
    ),
    Letter(
        "Trailhead Outdoor",
        "news@trailhead.example",
        "How to pack a light rucksack",
        "Roll, do not fold. Leave the third pair of shoes at home. Share the stove.\n\n"
        "More tips in our shop.",
    ),
    Letter(
        "Northgate Dental",
        "care@northgatedental.example",
        "Time for a check-up",
        "It has been a year. Call us for a date that suits you.\n\nYour dental team",
    ),
    Letter(
        "Chess Circle",
        "pairings@chesscircle.example",
        "Pairings of round four",
        "You play with the white pieces at board six.\n\nPlease be on time, clocks start at seven.",
    ),
    Letter(
        "Fern & Fig",
        "garden@fernandfig.example",
        "What to sow this month",
        "Beans, sunflowers and anything that likes warm feet.\n\nHappy digging!",
    ),
)
FOLDERS = (
    "Inbox", "Starred", "Sent", "Archive", "Trash", "Travel", "Receipts", "Family", "Projects",
    "Invitations", "Contracts", "Health",
)  # fmt: skip
ANSWERS = (
    "Thank you, I will be there.",
    "Good to know, thanks for the reminder.",
    "That suits me well. See you soon!",
    "Thanks! Could you send me the details?",
)
