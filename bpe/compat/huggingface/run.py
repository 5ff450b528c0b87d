"""Run a module with `patch` in effect, in its processes as well.

    python -m bpe.compat.huggingface.run MODULE [ARGUMENTS]...

Processes that multiprocessing starts anew import this module, so they are patched, too.
"""

from __future__ import annotations

import runpy
import sys

from bpe.compat import huggingface

huggingface.patch()

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("Usage: python -m bpe.compat.huggingface.run MODULE [ARGUMENTS]...")
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__")
