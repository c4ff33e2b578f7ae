"""`python -m gslang` is `gslc`."""

from gslang.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
