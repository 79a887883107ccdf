"""Settings of all tests."""

from __future__ import annotations

from hypothesis import settings

# A busy machine is no defect.
settings.register_profile("baytree", deadline=None)
settings.load_profile("baytree")
