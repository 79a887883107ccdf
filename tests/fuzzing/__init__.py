"""Kinds of random trial, one file for each; `tests.fuzzing.kinds` lists them and `tests.fuzz` runs them."""
