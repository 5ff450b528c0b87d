"""Execute stages: compiled programs, the pure Python machine, backends and streams."""
