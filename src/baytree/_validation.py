"""Checks of parameters and data, with one clear sentence for each thing that can be wrong."""

from __future__ import annotations

import math
import warnings
from contextlib import contextmanager
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._typing import AnyArray, FloatArray


FEW_NUMBERS = 20  # whole numbers with at most so many different values are taken for classes
_BEYOND_ALL = 2**62  # no table is so long, no tree so deep
_FEW, _MANY = 0.1, 1.5  # weight a row, on average, below and above which it is hardly meant


def short_repr(value: Any) -> str:
    """A value for a message: on one line, and not too long."""
    plain = (
        value.item() if isinstance(value, np.generic) else value.tolist() if isinstance(value, np.ndarray) else value
    )
    text = " ".join(repr(plain).split())
    return text if len(text) <= 80 else text[:77] + "..."


def check_real(
    name: str, value: Any, *, low: float, high: float = np.inf, low_ok: bool = False, high_ok: bool = False
) -> float:
    """Return a real number strictly inside (low, high); the ends are fine if `low_ok` and `high_ok`."""
    interval = f"{'[' if low_ok else '('}{low:g}, {high:g}{']' if high_ok else ')'}"
    message = f"{name} must be a number in {interval}; got {short_repr(value)}."
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(message)
    number = float(value)
    if not (low < number < high or (low_ok and number == low) or (high_ok and number == high)):
        raise ValueError(message)
    return number


def check_integer(name: str, value: Any, *, low: int) -> int:
    """Return a whole number of at least `low`."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number of at least {low}; got {short_repr(value)}.")
    if value < low:
        raise ValueError(f"{name} must be a whole number of at least {low}; got {short_repr(value)}.")
    return min(int(value), _BEYOND_ALL)


def check_truth(name: str, value: Any) -> bool:
    """Read a parameter that is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False; got {short_repr(value)}.")
    return bool(value)


def check_optional_integer(name: str, value: Any, *, low: int) -> int | None:
    """Return None or a whole number of at least `low`."""
    return None if value is None else check_integer(name, value, low=low)


def check_positive_array(name: str, value: Any, *, length: int, one_per: str) -> FloatArray:
    """Return a float64 vector of positive finite numbers, `length` of them."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must hold one positive number per {one_per}; got {short_repr(value)}.") from None
    if array.shape != (length,):
        raise ValueError(
            f"{name} must hold one positive number per {one_per}, so have shape ({length},); got shape {array.shape}."
        )
    with np.errstate(over="ignore"):
        if not np.all(array > 0) or not np.isfinite(array.sum()):
            raise ValueError(f"{name} must be positive and finite throughout; got {short_repr(value)}.")
    return array


def as_numbers(name: str, value: Any) -> FloatArray:
    """Return one number per row as a float64 array; nothing is masked, complex or too large."""
    refuse_masked(name, value)
    wanted = f"{name} must hold one number per row of X, each of them a float64."
    try:
        array = np.asarray(value)
        numbers = array.astype(np.float64) if array.dtype.kind not in "cmMSU" else None
    except (TypeError, ValueError, OverflowError):
        raise TypeError(wanted) from None
    if numbers is None:
        raise TypeError(wanted)
    return numbers


def refuse_masked(name: str, value: Any) -> None:
    """Refuse masked values where every row needs one."""
    if np.ma.is_masked(value):
        row = int(np.argwhere(np.ma.getmaskarray(value))[0][0])
        raise ValueError(f"{name} is masked in row {row}: every row needs a value; leave the row out.")


def importance_weights(sample_weight: Any, n_rows: int) -> FloatArray | None:
    """Return weights that only compare rows, scaled to the effective number of rows: (sum of w)² / (sum of w²)."""
    weight = check_sample_weight(sample_weight, n_rows)
    if weight is None:
        return None
    weight = weight / weight.max()  # squares neither overflow nor vanish
    return np.asarray(weight * (weight.sum() / (weight**2).sum()))


def warn_of_weights(total: float, n_rows: int, *, stacklevel: int) -> None:
    """Warn of the weights of a table that sum to much more or less than the number of its rows.

    A tree takes them for that many rows. The weights of a part of the table tell nothing about this.
    """
    if total < _FEW * n_rows:
        warnings.warn(
            f"sample_weight sums to {total:.3g} over {n_rows} rows. Weights count rows (a weight of 2 is the row "
            f"twice), so these count as {total:.3g} rows in all: multiply them by {n_rows / total:.3g} if they only "
            "compare rows.",
            UserWarning,
            stacklevel=stacklevel + 1,
        )
    if total > _MANY * n_rows:
        warnings.warn(
            f"sample_weight sums to {total:.6g} over {n_rows} rows. Weights are counts, so the model is as sure as "
            f"{total:.6g} rows would make it: write weights='importance' if they only compare rows (as those of a "
            "survey do), or weights='counts' if each stands for that many equal rows.",
            UserWarning,
            stacklevel=stacklevel + 1,
        )


def check_sample_weight(sample_weight: Any, n_rows: int, *, of_part: bool = False) -> FloatArray | None:
    """Return weights as a float64 vector, or None where every row counts once; all those of a part may be zero."""
    if sample_weight is None:
        return None
    weight = as_numbers("sample_weight", sample_weight)
    if weight.ndim == 0:
        weight = np.full(n_rows, weight)
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must hold one number per row of X, so have shape ({n_rows},); got shape {weight.shape}."
        )
    if not np.all(np.isfinite(weight)):
        raise ValueError("sample_weight holds NaN or an infinite value: every weight must be finite.")
    with np.errstate(over="ignore"):
        if not np.isfinite(weight.sum()):
            raise ValueError("sample_weight is too large to be summed: divide it by a large number.")
    if np.any(weight < 0):
        raise ValueError("sample_weight holds a negative value: every weight must be zero or more.")
    if not of_part and not np.any(weight > 0):
        raise ValueError("sample_weight is zero throughout: at least one row must have weight.")
    return weight


def check_outcomes(y: Any, *, multi_output: bool = False, y_numeric: bool = False) -> AnyArray:
    """Return y as an array of one outcome per row, none of them NaN or infinite."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None.")
    refuse_masked("y", y)
    if not multi_output:
        y = column_or_1d(y, warn=True)
        _refuse_missing(y, "value" if y_numeric else "label")
    y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
    if y_numeric and y.dtype.kind in "mMSUV":
        raise ValueError(f"y must hold numbers; it holds {'dates or times' if y.dtype.kind in 'mM' else 'text'}.")
    if not y_numeric or y.dtype.kind != "O":
        return y
    try:
        return y.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"y must hold numbers that are float64s ({error}).") from None


def _refuse_missing(y: AnyArray, what: str) -> None:
    """Refuse missing values among Python objects, of which scikit-learn does not know all."""
    if y.dtype.kind != "O":
        return
    missing = np.fromiter((not isinstance(label, str) and is_missing(label) for label in y), bool, len(y))
    if missing.any():
        row = int(np.argmax(missing))
        other = " or name it" if what == "label" else ""
        raise ValueError(f"y has a missing {what} ({y[row]}) in row {row}: remove the row{other}.")


def is_missing(value: Any) -> bool:
    """Whether a Python object stands for a missing value."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    return type(value).__name__ in ("NAType", "NaTType")  # pandas' own, without pandas


def check_labels(y: AnyArray) -> None:
    """Refuse what cannot be class labels."""
    check_classification_targets(y)


def check_quantiles(quantiles: Any) -> FloatArray:
    """Return one or more numbers in [0, 1] as a vector."""
    try:
        wanted = np.atleast_1d(np.asarray(quantiles, dtype=np.float64))
    except (TypeError, ValueError):
        raise TypeError(f"quantiles must be numbers in [0, 1]; got {short_repr(quantiles)}.") from None
    if wanted.ndim != 1 or len(wanted) == 0 or not np.all((wanted >= 0) & (wanted <= 1)):
        raise ValueError(f"quantiles must be numbers in [0, 1]; got {short_repr(quantiles)}.")
    return wanted


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Put an estimator back as it was if the block fails."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
