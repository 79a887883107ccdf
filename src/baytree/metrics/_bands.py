"""Tables by band of the score: gains and lift, bad rates."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray
from .._validation import check_integer
from .._words import amount_text, number_text, percent_text
from ..figures import Figure, share
from ._read import read_rows


@dataclass(frozen=True)
class Band:
    """Rows with scores of one band.

    Attributes
    ----------
    low, high
        The lowest and the highest score in the band.
    n, n_positive
        Rows in the band, and those of them that are of the positive class.
    rate
        Share of the band that is positive, with its 90 % interval (Beta posterior, Jeffreys' prior).
    mean_score
        Mean score, to compare with the rate where the score is a probability.
    lift
        The rate divided by the rate of all rows.
    captured
        Share of all positive rows in this band and those before it.
    cumulative_lift
        Rate of this band and those before it, divided by the rate of all rows.
    difference
        Share of the positive rows in this band and those before it, less that of the other rows. Its maximum over all
        thresholds is KS.

    Examples
    --------
    >>> from baytree import metrics
    >>> band = metrics.gains_table([0, 0, 0, 1, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8], bands=2)[0]
    >>> band.n, band.n_positive, band.lift
    (4.0, 3.0, 1.5)
    """

    low: float
    high: float
    n: float
    n_positive: float
    rate: Figure
    mean_score: float
    lift: float
    captured: float
    cumulative_lift: float
    difference: float


class Bands(tuple[Band, ...]):
    """Bands of a score; prints as a table.

    Examples
    --------
    >>> from baytree import metrics
    >>> bands = metrics.rate_by_band([0, 0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.6, 0.7, 0.8], edges=[0.5])
    >>> [float(band.rate) for band in bands]
    [0.0, 0.6666666666666666]
    """

    __slots__ = ()

    def rows(self) -> list[list[str]]:
        """Lines of text, the first with the titles."""
        lines = [["score", "rows", "positive", "rate", "90 % interval", "lift", "captured", "difference"]]
        for band in self:
            scores = number_text(band.low) if band.low == band.high else f"{_short(band.low)} to {_short(band.high)}"
            lines.append(
                [
                    scores,
                    amount_text(band.n),
                    amount_text(band.n_positive),
                    band.rate.text(),
                    band.rate.interval(),
                    f"{band.lift:.2f}",
                    percent_text(band.captured),
                    percent_text(band.difference) if band.difference >= 0 else f"-{percent_text(-band.difference)}",
                ]
            )
        return lines

    def __str__(self) -> str:
        lines = self.rows()
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        cells = [
            [line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))]
            for line in lines
        ]
        return "\n".join("  ".join(line).rstrip() for line in cells)

    def to_frame(self) -> Any:
        """A pandas data frame with a line for each band.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> from baytree import metrics
        >>> bands = metrics.gains_table([0, 0, 0, 1, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8], bands=2)
        >>> bands.to_frame()["captured"].tolist()
        [0.75, 1.0]
        """
        import pandas as pd  # noqa: PLC0415 - optional

        columns = [{name: value for name, value in asdict(band).items() if name != "rate"} for band in self]
        rates = [{"rate": band.rate.estimate, "rate_low": band.rate.low, "rate_high": band.rate.high} for band in self]
        return pd.DataFrame([first | second for first, second in zip(columns, rates, strict=True)])


def _short(number: float) -> str:
    return f"{number:.4g}"


def gains_table(y: Any, score: Any, *, positive: Any = None, bands: int = 10, sample_weight: Any = None) -> Bands:
    """Compute gains and lift by band of the score, from the highest scores to the lowest.

    Parameters
    ----------
    y, score, positive, sample_weight
        As in `auc`.
    bands
        Number of bands of about equal numbers of rows. Rows of one score stay together, so there may be fewer.

    Returns
    -------
    Bands

    Examples
    --------
    >>> from baytree import metrics
    >>> print(metrics.gains_table([0, 0, 0, 1, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8], bands=2))
    score   rows  positive  rate   90 % interval  lift  captured  difference
    5 to 8     4         3  75 %  34.9 to 95.4 %  1.50      75 %        50 %
    1 to 4     4         1  25 %   4.6 to 65.1 %  0.50     100 %         0 %
    """
    of_positive, scores, weight = read_rows(y, score, positive, sample_weight)
    edges = _equal_edges(scores, weight, check_integer("bands", bands, low=1))
    return _bands(of_positive, scores, weight, edges, from_the_top=True)


def rate_by_band(
    y: Any, score: Any, *, positive: Any = None, bands: int = 10, edges: Any = None, sample_weight: Any = None
) -> Bands:
    """Compute the rate of the positive class (the bad rate) by band of the score, from low scores to high ones.

    Parameters
    ----------
    y, score, positive, sample_weight
        As in `auc`.
    bands
        Number of bands of about equal numbers of rows. Rows of one score stay together, so there may be fewer.
    edges
        Where bands end, instead: ``[0.1, 0.3]`` makes three bands, and a score of 0.1 belongs to the second.

    Returns
    -------
    Bands

    Examples
    --------
    >>> from baytree import metrics
    >>> bands = metrics.rate_by_band([0, 0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.6, 0.7, 0.8], edges=[0.5])
    >>> [band.n for band in bands]
    [3.0, 3.0]
    """
    of_positive, scores, weight = read_rows(y, score, positive, sample_weight)
    if edges is None:
        ends = _equal_edges(scores, weight, check_integer("bands", bands, low=1))
    else:
        ends = np.asarray(edges, dtype=np.float64)
        if ends.ndim != 1 or not np.all(np.isfinite(ends)) or np.any(np.diff(ends) <= 0):
            raise ValueError("edges must be ascending numbers, such as [0.1, 0.3].")
    return _bands(of_positive, scores, weight, ends, from_the_top=False)


def _equal_edges(score: FloatArray, weight: FloatArray, n_bands: int) -> FloatArray:
    """Scores at which bands of about equal weight begin, each a score of some row."""
    values, place = np.unique(score, return_inverse=True)
    below = np.append(0.0, np.cumsum(np.bincount(place, weights=weight)))[:-1]
    wanted = np.arange(1, n_bands) * weight.sum() / n_bands
    begins = np.unique(np.array([np.argmin(np.abs(below - amount)) for amount in wanted], dtype=np.int64))
    return np.asarray(values[begins[begins > 0]])


def _bands(
    positive: BoolArray, score: FloatArray, weight: FloatArray, edges: FloatArray, *, from_the_top: bool
) -> Bands:
    band_of = np.searchsorted(edges, score, side="right")
    codes = np.unique(band_of)
    n, n_positive = float(weight.sum()), float(weight[positive].sum())
    before, before_positive, result = 0.0, 0.0, []
    for code in codes[::-1] if from_the_top else codes:
        rows = band_of == code
        band_weight, band_positive = float(weight[rows].sum()), float(weight[rows & positive].sum())
        before, before_positive = before + band_weight, before_positive + band_positive
        captured, others = before_positive / n_positive, (before - before_positive) / (n - n_positive)
        overall = n_positive / n
        result.append(
            Band(
                float(score[rows].min()),
                float(score[rows].max()),
                band_weight,
                band_positive,
                share(band_positive, band_weight - band_positive),
                float(np.average(score[rows], weights=weight[rows])),
                band_positive / band_weight / overall,
                captured,
                before_positive / before / overall,
                captured - others,
            )
        )
    return Bands(result)
