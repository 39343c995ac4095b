"""What belongs to the phone and not to an app: launcher, bars, keyboard, shade, pop-ups."""
