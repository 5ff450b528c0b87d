"""The settings of the process, and the number of calls that fell back, by reason."""

from __future__ import annotations

from collections import Counter

strict = False
total: Counter[str] = Counter()
