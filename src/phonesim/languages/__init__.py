"""The languages that the phone speaks: one folder of TOML files each (docs/languages.md)."""
