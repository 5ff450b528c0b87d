"""File formats of vocabularies: `registry` lists the formats, `spec` defines their result."""
