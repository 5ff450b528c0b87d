"""Load the table of a Unicode version, which gives the atom of each code point.

An atom is a part of a fixed partition of the code points, such as all of Nd; see ATOMS in
pretok.unicode.atoms.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from pretok.errors import UnknownUnicodeVersionError
from pretok.unicode.atoms import ATOMS

VERSIONS = ("15.0", "15.1", "16.0", "17.0", "18.0")
DEFAULT_VERSION = "16.0"
CODE_POINTS = 0x110000


def table_module(version: str) -> str:
    """Return the name of the module, in this package, that holds the table of `version`."""
    return f"table_{version.replace('.', '_')}"


def check_version(version: str) -> str:
    """Return `version`. Raise UnknownUnicodeVersionError if `version` has no table."""
    if version not in VERSIONS:
        raise UnknownUnicodeVersionError(version, VERSIONS)
    return version


@cache
def table(version: str) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return two arrays: the first code point of each run, and the atom of each run.

    All code points of a run have the same atom in Unicode `version`. The runs cover all code
    points, ascending from 0.

    >>> firsts, atoms = table("16.0")
    >>> int(firsts[0]), len(firsts) == len(atoms)
    (0, True)
    """
    module = import_module(f"pretok.unicode.{table_module(check_version(version))}")
    items = module.RUNS.split()
    atom_of = {kind.code: atom for atom, kind in enumerate(ATOMS)}
    firsts = np.array([int(item[:-1], 16) for item in items], dtype=np.int64)
    return firsts, np.array([atom_of[item[-1]] for item in items], dtype=np.uint8)
