"""Call `patch` in a spawned process, and run the main module of its parent (see processes)."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

from bpe.compat import huggingface
from bpe.compat.huggingface.processes import KEYS, main_of_parent

if __name__ == "__mp_main__":
    _message = json.loads(sys.argv.pop())
    main_of_parent.update(_message["main"])
    huggingface.patch(**_message["options"])
    _name, _path = map(main_of_parent.get, KEYS)
    _content = {}
    # multiprocessing does not import `__main__` modules of packages, nor IPython.
    if _name and not _name.endswith("__main__"):
        _content = runpy.run_module(_name, run_name=__name__, alter_sys=True)
    elif _path and Path(_path).stem != "ipython":
        _content = runpy.run_path(_path, run_name=__name__)
    globals().update({k: v for k, v in _content.items() if not k.startswith("__")})
