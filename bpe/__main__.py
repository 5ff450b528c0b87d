"""Run the command line: `python -m bpe` is the same as `pretok`."""

from __future__ import annotations

import sys

from bpe.cli import main

if __name__ == "__main__":
    sys.exit(main())
