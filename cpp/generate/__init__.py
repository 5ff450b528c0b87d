"""Write generated files, from the root of the repository: `python -m cpp.generate.presets`."""
