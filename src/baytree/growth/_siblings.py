"""Histograms of classes that need not be asked for: what is in a node and not in one child is in the other."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .._typing import IntArray
from ._histograms import ClassHistograms, Routes

_MOST_BYTES = 2**28  # of sums that are kept


@dataclass
class Siblings:
    """Which open nodes follow from their siblings, and the sums of their parents."""

    first: IntArray  # where the codes of each column begin, and the end
    follows: dict[int, tuple[int, ClassHistograms]] = field(
        default_factory=dict, init=False
    )  # sibling, sums of the parent

    def keep(self, found: ClassHistograms, nodes: IntArray, routes: Routes) -> None:
        """Keep the sums of nodes that were split into two open ones; the child of more rows follows from the other."""
        room = _MOST_BYTES - sum(own.n_bytes for _, own in self.follows.values())
        for place, node in enumerate(nodes.tolist()):
            feature, lower, upper = (int(own[node]) for own in (routes.feature, routes.lower, routes.upper))
            room -= found.n_bytes // len(nodes)
            if feature < 0 or -1 in (routes.open[lower], routes.open[upper]) or room < 0:
                continue
            own = found.of(place)
            rows = own.n_rows(slice(*self.first[feature : feature + 2]))[0]
            goes_lower = routes.goes_lower[routes.start[node] :][: len(rows)].astype(bool)
            one, other = (lower, upper) if 2 * rows[goes_lower].sum() <= rows.sum() else (upper, lower)
            self.follows[other] = one, own

    def asked(self, nodes: IntArray) -> IntArray:
        """Those of some nodes whose sums must be asked for."""
        chosen = set(nodes.tolist())
        return np.array([node for node in nodes.tolist() if self.follows.get(node, (-1,))[0] not in chosen])

    def complete(self, found: ClassHistograms, asked: IntArray, nodes: IntArray) -> ClassHistograms:
        """The sums of all nodes, from those of nodes that were asked for."""
        place = {node: i for i, node in enumerate(asked.tolist())}
        result = found.room_for(len(nodes))
        for i, node in enumerate(nodes.tolist()):
            sibling, parent = self.follows.pop(node, (-1, None))
            if node in place:
                result.put(i, found, place[node])
            elif parent is not None:
                result.put_rest(i, parent, found, place[sibling])
        return result
