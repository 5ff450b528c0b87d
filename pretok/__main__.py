"""Let `python -m pretok` run the commands of `pretok.cli`, which need no vocabulary."""

from __future__ import annotations

import sys

from pretok.cli import main

if __name__ == "__main__":
    sys.exit(main())
