"""Run the whole command line as `python -m bpe`."""

from __future__ import annotations

import sys

from bpe.cli import main

if __name__ == "__main__":
    sys.exit(main())
