"""Run a module with `patch` in effect, also in the processes that it starts.

python -m bpe.compat.huggingface.run MODULE [ARGUMENTS]...
"""

from __future__ import annotations

import runpy
import sys

from bpe.compat import huggingface

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("Usage: python -m bpe.compat.huggingface.run MODULE [ARGUMENTS]...")
    huggingface.patch(factories=True, processes=True)
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
