"""Fit a tree to scikit-learn's breast cancer table, read it, and compare it with other models."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from baytree import BayesianTreeClassifier, report
from baytree.export import to_text


def main() -> None:
    """Print the tree, one explained case and a cross-validated comparison; write the page."""
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]

    model = BayesianTreeClassifier().fit(X, y)
    print(f"The tree ({len(X)} tumours, {X.shape[1]} measurements; p = probability of {', '.join(model.classes_)})\n")
    print(to_text(model))
    share = np.exp(model.log_posterior_ - model.log_evidence_)
    print(f"\nShare of this tree among its prunings: {share:.1%}")
    print("Most probable features for the first split: " + first_features(model))

    print("\nWhy the 11th tumour got its prediction\n")
    print(model.explain(X.iloc[[10]])[0])

    page = Path("out") / "report.html"
    page.parent.mkdir(exist_ok=True)
    print(f"\nThe model as a page for your browser: {report.write(model, X, y, page, title='Breast cancer')}")

    print("\n10-fold cross-validation\n")
    compare(X, y)


def first_features(model: BayesianTreeClassifier) -> str:
    """Name the most probable features of the root."""
    names = [*model.feature_names_in_, "no split"]
    order = np.argsort(-model.feature_posterior_)[:3]
    return ", ".join(f"{names[i]} {model.feature_posterior_[i]:.0%}" for i in order)


def compare(X, y) -> None:
    """Cross-validate our tree and two of scikit-learn's models on the same folds."""
    models = {
        "BayesianTreeClassifier": BayesianTreeClassifier(),
        "the same with linear leaves": BayesianTreeClassifier(leaf="linear"),
        "DecisionTreeClassifier": DecisionTreeClassifier(random_state=0),
        "RandomForestClassifier, 5 trees": RandomForestClassifier(5, random_state=0),
    }
    print(f"{'':32s} {'accuracy':>8s} {'log loss':>9s} {'leaves':>7s} {'terms':>6s} {'fit, ms':>8s}")
    for name, model in models.items():
        accuracy, loss, leaves, terms, seconds = [], [], [], [], []
        for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(X, y):
            start = time.perf_counter()
            model.fit(X.iloc[train], y[train])
            seconds.append(time.perf_counter() - start)
            accuracy.append(accuracy_score(y[test], model.predict(X.iloc[test])))
            loss.append(log_loss(y[test], model.predict_proba(X.iloc[test])))
            trees = getattr(model, "estimators_", [model])
            leaves.append(sum(tree.get_n_leaves() for tree in trees))
            terms.append(n_terms(model))
        print(
            f"{name:32s} {np.mean(accuracy):8.1%} {np.mean(loss):9.3f} {np.mean(leaves):7.1f} "
            f"{np.mean(terms):6.1f} {1000 * np.median(seconds):8.1f}"
        )


def n_terms(model) -> int:
    """Count the terms of the models in the leaves; constant leaves have none."""
    if not isinstance(model, BayesianTreeClassifier):
        return 0
    return int(model.tree_.leaves.n_terms[model.tree_.is_leaf].sum())


if __name__ == "__main__":
    main()
