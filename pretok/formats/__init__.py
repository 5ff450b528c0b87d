"""File formats that name a split."""
