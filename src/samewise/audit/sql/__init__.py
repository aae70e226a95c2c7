"""SQL text into statements with places. Never raises for what it cannot read."""
