"""Figures that lenders expect, with 90 % intervals: Gini, KS, gains, bad rates by band, impact ratio."""

from ._bands import Band as Band
from ._bands import Bands as Bands
from ._bands import gains_table as gains_table
from ._bands import rate_by_band as rate_by_band
from ._impact import GroupImpact as GroupImpact
from ._impact import impact_ratio as impact_ratio
from ._impact import impacts_of as impacts_of
from ._paired import RowValues as RowValues
from ._paired import auc_values as auc_values
from ._paired import difference_of as difference_of
from ._paired import ks_values as ks_values
from ._paired import mean_values as mean_values
from ._ranking import area_figure as area_figure
from ._ranking import auc as auc
from ._ranking import gini as gini
from ._ranking import gini_figure as gini_figure
from ._ranking import ks as ks
from ._ranking import ks_figure as ks_figure

__all__ = ["auc", "gains_table", "gini", "impact_ratio", "ks", "rate_by_band"]
