"""The size of the standard screen, and of its system bars and keyboard, in layout units."""

WIDTH, HEIGHT = 360, 720
STATUS = 24  # the bar at the top
NAVIGATION = 40  # the bar at the foot
KEYBOARD = 204  # above the navigation bar, while a text field has the focus
