"""YAML -> frozen, validated spec, with file and line in every error."""
