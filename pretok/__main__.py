"""Run the commands that need no vocabulary as `python -m pretok`."""

from __future__ import annotations

import sys

from pretok.cli import main

if __name__ == "__main__":
    sys.exit(main())
