"""The estimators, in scikit-learn's form."""

from ._base import Estimator as Estimator
from ._classifier import BayesianTreeClassifier as BayesianTreeClassifier
from ._elsewhere import Found as Found
from ._elsewhere import Source as Source
from ._elsewhere import TargetPlan as TargetPlan
from ._elsewhere import fit_elsewhere as fit_elsewhere
from ._elsewhere import look_elsewhere as look_elsewhere
from ._entry import FittedEstimator as FittedEstimator
from ._entry import Model as Model
from ._entry import estimator_of as estimator_of
from ._entry import explanations as explanations
from ._entry import facts_of as facts_of
from ._entry import fit_again as fit_again
from ._entry import fitted_of as fitted_of
from ._entry import fitted_tree_of as fitted_tree_of
from ._entry import read_rows as read_rows
from ._entry import table_of as table_of
from ._forest_classifier import BayesianForestClassifier as BayesianForestClassifier
from ._forest_regressor import BayesianForestRegressor as BayesianForestRegressor
from ._load import ESTIMATORS as ESTIMATORS
from ._load import from_document as from_document
from ._load import load as load
from ._partition_space import partition_space as partition_space
from ._regressor import BayesianTreeRegressor as BayesianTreeRegressor
from ._space_classifier import TreeSpaceClassifier as TreeSpaceClassifier
from ._space_regressor import TreeSpaceRegressor as TreeSpaceRegressor
