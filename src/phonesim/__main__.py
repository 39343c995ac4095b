"""`python -m phonesim`."""

from phonesim.cli import main

main()
