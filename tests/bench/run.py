"""Measure pretok against its peers: python tests/bench/run.py COMMAND; --help lists the commands.

The package of the same installation is measured, so install the tree first.
"""

from __future__ import annotations

import sys

from pretok_bench.commands import main

if __name__ == "__main__":
    sys.exit(main())
