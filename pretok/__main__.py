"""Run the command line as `python -m pretok`."""

from __future__ import annotations

import sys

from pretok.cli import main

if __name__ == "__main__":
    sys.exit(main())
