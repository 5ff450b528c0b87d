"""Measure pretok and its peers in turn, after comparing their results.

A peer is another package that encodes, splits or trains. The contenders of a measurement are pretok
and the peers that take part.

- `timing` runs contenders in turn, `answers` compares their results.
- `peers` has one adapter for each package.
- `subject` is the vocabulary to measure with, `inputs` reads the texts.
- Each group of measurements, such as `encode`, is a module that yields `timing.Result`s.
- `report` prints and records the results.
"""
