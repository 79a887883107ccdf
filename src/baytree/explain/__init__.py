"""Trees and their answers in words: rules, paths, alternatives, what would change a decision."""

from ._alternatives import Alternative as Alternative
from ._alternatives import Alternatives as Alternatives
from ._alternatives import alternatives_of as alternatives_of
from ._boxes import Box as Box
from ._boxes import Condition as Condition
from ._boxes import box_of_node as box_of_node
from ._boxes import boxes_of as boxes_of
from ._boxes import no_condition as no_condition
from ._conditions import condition_text as condition_text
from ._conditions import conditions_of as conditions_of
from ._contribution import Contribution as Contribution
from ._counterfactual import AllowedChanges as AllowedChanges
from ._counterfactual import Change as Change
from ._counterfactual import Counterfactual as Counterfactual
from ._counterfactual import Counterfactuals as Counterfactuals
from ._counterfactual import read_allowed as read_allowed
from ._counterfactual import scales_of as scales_of
from ._explain import explain as explain
from ._explanation import Explanation as Explanation
from ._explanation import Step as Step
from ._notebook import tree_html as tree_html
from ._reasons import Reason as Reason
from ._reasons import reasons_of as reasons_of
