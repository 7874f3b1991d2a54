"""`python -m loopwright`: the command line, where no script of that name is on PATH."""

from loopwright.cli.main import main

if __name__ == "__main__":
    main()
