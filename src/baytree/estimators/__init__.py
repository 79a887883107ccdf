"""The estimators, in scikit-learn's form."""

from ._base import Estimator as Estimator
from ._classifier import BayesianTreeClassifier as BayesianTreeClassifier
from ._fit import columns_of_source as columns_of_source
from ._fit import fit_source as fit_source
from ._forest_classifier import BayesianForestClassifier as BayesianForestClassifier
from ._forest_regressor import BayesianForestRegressor as BayesianForestRegressor
from ._load import ESTIMATORS as ESTIMATORS
from ._load import from_document as from_document
from ._load import load as load
from ._partition_space import partition_space as partition_space
from ._regressor import BayesianTreeRegressor as BayesianTreeRegressor
from ._resolve import FittedEstimator as FittedEstimator
from ._resolve import Model as Model
from ._resolve import estimator_of as estimator_of
from ._resolve import explanations as explanations
from ._resolve import facts_of_fit as facts_of_fit
from ._resolve import fitted_of as fitted_of
from ._resolve import read_rows as read_rows
from ._resolve import readable_tree_of as readable_tree_of
from ._resolve import refit_model as refit_model
from ._resolve import stability_of_model as stability_of_model
from ._resolve import table_of as table_of
from ._resolve import with_positive as with_positive
from ._space_classifier import TreeSpaceClassifier as TreeSpaceClassifier
from ._space_regressor import TreeSpaceRegressor as TreeSpaceRegressor
