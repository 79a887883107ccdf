"""The one error of model files."""


class ModelFileError(ValueError):
    """A file or document is not a model of baytree, is damaged, or is of a format that this version does not read."""
