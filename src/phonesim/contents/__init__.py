"""The data on a phone: the records that apps store, and the invented world they are filled from."""
