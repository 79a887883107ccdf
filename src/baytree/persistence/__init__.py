"""Models as data: a JSON document with a version and a checksum, and back. Reading one never runs code."""

from ._document import FORMAT as FORMAT
from ._document import FORMAT_VERSION as FORMAT_VERSION
from ._document import document_of as document_of
from ._document import read_document as read_document
from ._error import ModelFileError as ModelFileError
from ._files import read_content as read_content
from ._files import read_file as read_file
from ._files import write_model as write_model
from ._output import open_output as open_output
from ._output import write_text as write_text
