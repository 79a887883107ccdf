"""Bayesian decision trees for scikit-learn.

Names are imported when they are first used, so that `import baytree` takes no time.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from .estimators import BayesianForestClassifier as BayesianForestClassifier
    from .estimators import BayesianForestRegressor as BayesianForestRegressor
    from .estimators import BayesianTreeClassifier as BayesianTreeClassifier
    from .estimators import BayesianTreeRegressor as BayesianTreeRegressor
    from .estimators import TreeSpaceClassifier as TreeSpaceClassifier
    from .estimators import TreeSpaceRegressor as TreeSpaceRegressor
    from .estimators import explanations as explanations
    from .estimators import load as load
    from .estimators import partition_space as partition_space
    from .evaluation import compare as compare
    from .persistence import ModelFileError as ModelFileError
    from .priors import PartitionPrior as PartitionPrior

    __version__: str

__all__ = [
    "BayesianForestClassifier",
    "BayesianForestRegressor",
    "BayesianTreeClassifier",
    "BayesianTreeRegressor",
    "ModelFileError",
    "PartitionPrior",
    "TreeSpaceClassifier",
    "TreeSpaceRegressor",
    "compare",
    "explanations",
    "load",
    "partition_space",
]
_ELSEWHERE = {
    "ModelFileError": "persistence",
    "PartitionPrior": "priors",
    "compare": "evaluation",
}  # all others are among the estimators
_PACKAGES = ("edit", "engines", "export", "metrics", "plot", "report")


def __getattr__(name: str) -> _Any:
    if name == "__version__":
        value: _Any = _import_module("importlib.metadata").version("baytree")
    elif name in _PACKAGES:
        return _import_module(f".{name}", __name__)
    elif name in __all__:
        value = getattr(_import_module(f".{_ELSEWHERE.get(name, 'estimators')}", __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES, "__version__"})
