"""`python -m samewise` is the command `samewise`."""

from __future__ import annotations

from samewise.cli.main import main

if __name__ == "__main__":
    main()
