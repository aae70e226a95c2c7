"""The experiments on code that is not ours: a command that writes where it is told, run on copies of its target."""
