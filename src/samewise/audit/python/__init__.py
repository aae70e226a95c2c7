"""Python into flows: a small interpreter over the syntax tree that runs nothing and imports nothing."""
