"""What is on a phone: the records that apps keep, and the made-up world they are filled from."""
