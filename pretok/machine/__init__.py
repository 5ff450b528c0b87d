"""The machine that splits: programs of rules, one stage, several, and streams."""
