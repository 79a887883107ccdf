"""The one error of model files."""


class ModelFileError(ValueError):
    """A file or document is not a model of baytree, is damaged, or is of a format that this version does not read.

    Examples
    --------
    >>> import baytree, tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "notes.json"
    >>> size = file.write_text("not a model")
    >>> try:
    ...     baytree.load(file)
    ... except baytree.ModelFileError as error:
    ...     print(type(error).__name__)
    ModelFileError
    """
