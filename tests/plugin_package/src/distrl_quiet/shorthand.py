"""A dialect that was written for another version of DistRL: it is none."""

SHORTHAND = "shorthand"
