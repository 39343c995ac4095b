"""Initial conversations of Messages with people and services.

Each line is (ours, text). `SERVICES` and `REPLIES` also arrive while time passes.
"""

from __future__ import annotations

Talk = tuple[tuple[bool, str], ...]

SMALL_TALK: tuple[Talk, ...] = (
    (
        (False, "Are we still on for the climbing hall?"),
        (True, "Yes, I already packed my shoes"),
        (False, "Great, I will bring the chalk this time"),
    ),
    (
        (True, "Did the plumber come?"),
        (False, "He did. The tap no longer drips"),
        (True, "What a relief"),
    ),
    (
        (False, "I found your umbrella behind the sofa"),
        (False, "The green one with the wooden handle"),
        (True, "I was looking for it everywhere!"),
    ),
    (
        (True, "How was the concert?"),
        (False, "Loud, sweaty and wonderful"),
        (False, "The encore alone was worth the ticket"),
    ),
    (
        (False, "Could you water the plants next week?"),
        (True, "Of course. The key is still with me"),
        (False, "You are a star"),
    ),
    (
        (False, "The meeting moved to the small room"),
        (True, "Thanks, I will tell the others"),
    ),
    (
        (True, "Happy birthday! Many good years to you"),
        (False, "Thank you so much! Cake on Saturday?"),
        (True, "I would never say no to cake"),
    ),
    (
        (False, "Do you know a good dentist?"),
        (True, "Try the one next to the library"),
        (False, "Perfect, they have a slot on Tuesday"),
    ),
    (
        (True, "Landed safely. It is raining here"),
        (False, "Here too, so you are not missing anything"),
    ),
    (
        (False, "We need two more players for the quiz"),
        (True, "Count me in, I know all the rivers"),
        (False, "And capitals?"),
        (True, "Only the small ones"),
    ),
    (
        (False, "The cat has learned to open the fridge"),
        (True, "Send a photo, I do not believe it"),
        (False, "She will not do it while I watch"),
    ),
    (
        (True, "Shall I bring anything for dinner?"),
        (False, "Some bread and good stories"),
    ),
    (
        (False, "The bicycle is repaired, come and get it"),
        (True, "I will be there after work"),
        (False, "We close at half past six"),
    ),
    (
        (False, "Which film was it that you liked so much?"),
        (True, "The one about the lighthouse keeper"),
    ),
)

SERVICES: tuple[tuple[str, str], ...] = (
    ("Pigeon Parcels", "Your parcel will arrive between 10 and 12. Please keep the porch clear."),
    ("Tideline Ferries", "Boarding starts at gate 3. Have your ticket ready."),
    ("Oakroot Library", "The book you asked for waits at the desk until Friday."),
    ("Brightsmile Clinic", "Reminder: your check-up is next Monday. Call us to move it."),
    ("Meadow Energy", "Your meter reading was received. Thank you!"),
    ("Lantern Cinema", "Two seats in row F are booked for you. Enjoy the show!"),
)

REPLIES = (
    "Got it, thanks!",
    "Sounds good",
    "Can I call you later?",
    "Sure, no problem",
    "On my way",
    "Let me check and get back to you",
)
