"""Stands for a package that is not installed."""

raise ModuleNotFoundError("No module named 'tokenizers'", name="tokenizers")
