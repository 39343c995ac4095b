"""The languages that the phone speaks: a folder of TOML files for each (docs/languages.md)."""
