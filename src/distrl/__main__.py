"""`python -m distrl`: the command `distrl`, where its script is not on the PATH."""

from distrl.cli.main import main

if __name__ == "__main__":  # collectors import the main module again
    main()
