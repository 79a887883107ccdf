"""Random tables, options and sequences of calls, held to the oracle and to what must always be true.

``python -m tests.fuzz --minutes 10`` (or ``make fuzz``) runs until the time is up or something is wrong; a failure
prints the seed and the kind that bring it back: ``python -m tests.fuzz --seed 12345 --kind files``.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
import warnings
from collections import Counter

import numpy as np

from tests.fuzzing.case import Case, Skipped
from tests.fuzzing.kinds import KINDS, Kind


def run_one(seed: int, kind: Kind) -> str:
    """One trial of one kind; what was tried."""
    case = Case(seed)
    if case.is_classifier and len(np.unique(case.y)) < 2:
        return "left out: one class"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "sample_weight sums to")  # test_weights.py tells which are warned of
        try:
            return kind.check(case)
        except Skipped as reason:
            return f"{kind.name}: skipped ({reason})"


def main() -> int:
    """Run until the time is up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, help="run this one alone")
    parser.add_argument("--kind", choices=[kind.name for kind in KINDS], action="append", help="of all by default")
    options = parser.parse_args()
    first = int(time.time()) % 10**6 * 1000 if options.seed is None else options.seed
    kinds = [kind for kind in KINDS if options.kind is None or kind.name in options.kind]
    stop, total, seed = time.monotonic() + 60 * options.minutes, Counter(), first
    while True:
        for kind in kinds:
            if seed % kind.every and options.kind is None:
                continue
            try:
                total[run_one(seed, kind)] += 1
            except Exception:  # noqa: BLE001 - whatever it is, it is told with its seed
                traceback.print_exc()
                print(f"\nfailed: python -m tests.fuzz --seed {seed} --kind {kind.name}")
                return 1
        seed += 1
        if options.seed is not None or time.monotonic() > stop:
            break
    print(f"{seed - first} seeds from {first} on, nothing wrong:")
    for name, n in sorted(total.items()):
        print(f"{n:8,}  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
