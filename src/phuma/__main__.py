"""`python -m phuma` is `phuma`."""

from phuma.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
