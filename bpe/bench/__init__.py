"""Measure pretok and its peers in turn, after comparing their results.

- `timing` runs contenders in turn, `answers` compares their results.
- `peers` has one adapter for each package.
- `subject` is the vocabulary to measure with, `inputs` reads the texts.
- Each group of measurements is a module that yields `timing.Result`s.
- `report` prints and records the results.
"""
