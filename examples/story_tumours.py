"""
A tree for a clinic
===================

A clinic wants a rule that says which breast tumours are malignant. Doctors must be able to read it, check it and
overrule it. The table has 569 tumours with thirty measurements of cell nuclei each.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from baytree import BayesianForestClassifier, BayesianTreeClassifier, TreeSpaceClassifier, plot
from baytree.export import to_text

data = load_breast_cancer(as_frame=True)
X, X_new, y, y_new = train_test_split(data.data, data.target_names[data.target], random_state=0)

# %%
# One tree
# --------
# Nothing is tuned. The tree stops where a further split is less probable than none.

model = BayesianTreeClassifier().fit(X, y)
print(to_text(model))

# %%
# A plot shows the same tree. The curve in a leaf is the posterior of the probability that a tumour is malignant: wide
# where the leaf has few rows.

plot.tree(model)

# %%
# Is the first split beyond doubt?
# --------------------------------
# Several measurements say nearly the same. The bars show how probable each of them is as the first split.

plot.feature_posterior(model)

# %%
# Is it calibrated?
# -----------------
# On tumours that the tree has not seen, the predicted probabilities should match what happened.

print(f"accuracy {model.score(X_new, y_new):.3f}, log loss {log_loss(y_new, model.predict_proba(X_new)):.3f}")
plot.calibration(model, X_new, y_new, bins=5)

# %%
# Missing a cancer is worse than a false alarm
# --------------------------------------------
# The clinic judges that sending a patient with cancer home is nine times as bad as an unnecessary biopsy. This changes
# the decisions, not the tree.

careful = BayesianTreeClassifier(decision={"malignant": {"benign": 9}}).fit(X, y)
print(careful.fitted_.decision.text(careful.fitted_.class_names))
plot.confusion(careful, X_new, y_new)

# %%
# A single patient
# ----------------
# The doctor asks why. The answer has one line per feature, the posterior, and what would have changed the decision.
# This tumour was benign: the tree gave malignant a probability of 0.9 and was wrong. The leaf has eight rows, and its
# interval reaches from 0.72 to 0.99; no interval of a probability rules out the other class.

print(careful.explain(X_new.iloc[[13]])[0])
print("in truth:", y_new[13])

# %%
# What would more trees bring?
# ----------------------------
# The tree space averages over many trees exactly. The forest averages a hundred deeper ones.

for other in (TreeSpaceClassifier(), BayesianForestClassifier(random_state=0)):
    other.fit(X, y)
    name, loss = type(other).__name__, log_loss(y_new, other.predict_proba(X_new))
    print(f"{name}: accuracy {other.score(X_new, y_new):.3f}, log loss {loss:.3f}")

# %%
# The clinic signs the single tree and keeps the forest as a second opinion. ``report.write(careful, X, y,
# "report.html")`` writes the document that goes with it.
