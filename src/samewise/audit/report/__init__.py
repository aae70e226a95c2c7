"""How findings are told: to a person, a machine, a code scanner, a pull request."""
