"""When does ``prior="evidence"`` help? ``python -m benchmarks.evidence``.

Two classes on five uniform features. The class is what most of the first three say, and a share of the labels is wrong:
from none, where the classes do not overlap, to nearly half, where they overlap almost everywhere. Means over tables of
300 and of 3,000 rows; log loss and accuracy on 20,000 new rows.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import log_loss

from baytree import BayesianTreeClassifier

N_TABLES = 20


def draw(n: int, noise: float, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of which a share has the wrong label."""
    X = random.random((n, 5))
    y = (X[:, :3] > 0.5).sum(axis=1) >= 2
    return X, y ^ (random.random(n) < noise)


def main() -> None:
    """Print a line for each size and share of wrong labels."""
    print("| rows | wrong labels | prior chosen | log loss | with evidence | accuracy, % | with | leaves | with |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for n in (300, 3000):
        for noise in (0.0, 0.02, 0.1, 0.2, 0.3, 0.4, 0.45):
            rows = []
            for seed in range(N_TABLES):
                random = np.random.default_rng(seed)
                X, y = draw(n, noise, random)
                X_new, y_new = draw(20_000, noise, random)
                models = [BayesianTreeClassifier(prior=prior).fit(X, y) for prior in (None, "evidence")]
                losses = [log_loss(y_new, model.predict_proba(X_new)) for model in models]
                right = [100 * model.score(X_new, y_new) for model in models]
                leaves = [model.get_n_leaves() for model in models]
                rows.append([np.log(models[1].prior_.sum()), *losses, *right, *leaves])
            chosen, *rest = np.mean(rows, axis=0)
            loss, with_loss, accuracy, with_accuracy, size, with_size = rest
            print(
                f"| {n:,} | {noise:.0%} | {np.exp(chosen):.1f} | {loss:.4f} | {with_loss:.4f} | {accuracy:.1f} | "
                f"{with_accuracy:.1f} | {size:.1f} | {with_size:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
