"""Train vocabularies: read texts, count pre-tokens, find merges."""
