"""
How far will it progress?
=========================

442 patients with diabetes, ten measurements each, and a number that says how far the disease progressed in a year. The
question is not only "how far?", but "how sure are we?".
"""

from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from baytree import BayesianForestRegressor, BayesianTreeRegressor, plot
from baytree.export import to_rules

patients, progression = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X, X_new, y, y_new = train_test_split(patients, progression, test_size=0.33, random_state=0)

# %%
# One tree, one rule per leaf
# ---------------------------
# Each rule gives the mean of its patients with a 90 % interval, and what a new patient may have.

model = BayesianTreeRegressor().fit(X, y)
print(to_rules(model))

# %%
# Along one measurement
# ---------------------
# The dark band is where the mean is. The light band is where a new patient is, nine times in ten.

plot.regression(model, X, y, "bmi")

# %%
# Do the intervals hold?
# ----------------------
# The noise is learnt from the leaves, and the width is checked by cross-validation inside of ``fit``.

print(f"spread {model.spread_:.2f}")
plot.intervals(model, X_new, y_new)

# %%
# What we know to be true
# -----------------------
# Doctors expect the disease to progress faster with a higher body mass index and a higher blood pressure. You can
# require that of the tree. It costs nothing here.

monotone = BayesianTreeRegressor(monotonic_cst={"bmi": 1, "bp": 1}).fit(X, y)
print(f"R2 {model.score(X_new, y_new):.3f}, monotone {monotone.score(X_new, y_new):.3f}")

# %%
# Other questions, the same leaf
# ------------------------------
# The prediction is a whole distribution, so any question about it has an answer.

patient = X_new.iloc[[0]]
print(f"quartiles {model.predict_quantiles(patient, [0.25, 0.5, 0.75])[0].round(0)}")
print(f"probability of more than 200: {model.predict_dist(patient).sf(200)[0]:.2f}")

# %%
# A forest, and what it is unsure of
# ----------------------------------
# The forest predicts better. The band holds nine in ten of its trees: where it is wide, the data leave open what the
# measurement does.

forest = BayesianForestRegressor(random_state=0).fit(X, y)
print(f"R2 {forest.score(X_new, y_new):.3f}")
plot.dependence(forest, X, "s5")
