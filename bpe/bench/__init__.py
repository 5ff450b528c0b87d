"""Measure pretok and its peers in turn, in one run, answers compared first.

`timing` runs contenders in turn, `answers` compares, `peers` says how each package is asked,
`subject` and `inputs` what with; a module for each group of figures yields `timing.Result`s, which
`report` prints and records.
"""
