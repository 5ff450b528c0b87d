"""The settings of the process, and the number of calls that fell back, by reason."""

from __future__ import annotations

from collections import Counter

strict = False
check = 0.0
"""The share of calls whose result is compared with the real engine."""
total: Counter[str] = Counter()
