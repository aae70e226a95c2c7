"""The nouns everything else is made of: standard library only, no I/O beyond a failpoint."""
