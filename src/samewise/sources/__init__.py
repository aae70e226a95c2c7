"""Where rows come from: one file a system. They see core and storage, never each other."""
