"""`python -m distrl`: the command `distrl`, for when its script is not on the PATH."""

from distrl.cli.main import main

if __name__ == "__main__":  # collector processes import the main module again
    main()
