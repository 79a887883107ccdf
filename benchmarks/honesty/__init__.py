"""How often the certainty that models express is right: ``make honesty``."""
