"""The command line's entry point."""

from __future__ import annotations

import atexit
import gc
import os


def main() -> None:
    """The entry point of the `samewise` command."""
    # Importing makes many objects and no garbage: looking for some takes a fifth of a short command's time.
    # A command that works on data switches it on again.
    gc.disable()
    atexit.register(gc.freeze)  # Nor is there anything to find at the end.
    # The same for pydantic, which would read the metadata of every installed package to find plugins.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from samewise.cli.app import app

    app()
