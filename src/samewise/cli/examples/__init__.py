"""What `samewise init` copies; the rows are made by `samewise.cli.example`."""
