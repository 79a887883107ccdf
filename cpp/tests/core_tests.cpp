// Tests of the core without Python. `core_tests [part of a name]` runs all tests, or those so named.
#include <cstdint>

#include "categorical_tests.hpp"
#include "columns_tests.hpp"
#include "forest_tests.hpp"
#include "grow_tests.hpp"
#include "harness.hpp"
#include "numbers_tests.hpp"
#include "oblique_tests.hpp"
#include "parallel_tests.hpp"
#include "rounded_planes_tests.hpp"
#include "router_tests.hpp"
#include "space_tests.hpp"

namespace {

using namespace baytree::tests;
using Whole = std::uint32_t;
using Real = double;

constexpr Test kTests[] = {
    {"log_gamma equals the C library's", log_gamma_equals_the_c_library},
    {"log_gamma obeys its equations", log_gamma_obeys_its_equations},
    {"log_gamma_table is log_gamma", log_gamma_table_is_log_gamma},
    {"digamma is the derivative of log_gamma", digamma_is_the_derivative_of_log_gamma},
    {"exp_of_negative equals exp", exp_of_negative_equals_exp},
    {"log_of_positive equals log", log_of_positive_equals_log},
    {"sums of exponentials equal plain loops", sums_of_exponentials_equal_plain_loops},
    {"sort_by_key is a stable sort", sort_by_key_is_a_stable_sort},

    {"every task runs once", every_task_runs_once},
    {"exceptions reach the caller", exceptions_reach_the_caller},
    {"an exception ends the loop", an_exception_ends_the_loop},
    {"a stop ends the loop", a_stop_ends_the_loop},
    {"loops share threads", loops_share_threads},
    {"tasks add tasks", tasks_add_tasks},
    {"a failing task ends all", a_failing_task_ends_all},
    {"blocks cover everything once", blocks_cover_everything_once},
    {"the caller is asked and nobody else", the_caller_is_asked_and_nobody_else},
    {"the answer decides", the_answer_decides},
    {"questions are rare", questions_are_rare},
    {"an exception from the question reaches the caller", an_exception_from_the_question_reaches_the_caller},

    {"codes are ranks and bins hold them", codes_are_ranks_and_bins_hold_them},
    {"long columns are sorted in buckets", long_columns_are_sorted_in_buckets},
    {"codes take the width they need", codes_take_the_width_they_need},
    {"any number of columns is encoded", any_number_of_columns_is_encoded},
    {"sort_rows orders part of a column", sort_rows_orders_part_of_a_column},
    {"quantile bins end at ranks", quantile_bins_end_at_ranks},
    {"a scan looks at every value", a_scan_looks_at_every_value},
    {"encoding can be interrupted", encoding_can_be_interrupted},

    {"likelihood equals the closed form, whole", likelihood_equals_the_closed_form<Whole>},
    {"likelihood equals the closed form, real", likelihood_equals_the_closed_form<Real>},
    {"likelihood is a product of predictions", likelihood_is_a_product_of_predictions},
    {"split_score equals the closed form, whole", split_score_equals_the_closed_form<Whole>},
    {"split_score equals the closed form, real", split_score_equals_the_closed_form<Real>},
    {"split_scores equal the closed form, whole", split_scores_equal_the_closed_form<Whole>},
    {"split_scores equal the closed form, real", split_scores_equal_the_closed_form<Real>},
    {"upper_bound holds in all small boxes, whole", upper_bound_holds_in_all_small_boxes<Whole>},
    {"upper_bound holds in all small boxes, real", upper_bound_holds_in_all_small_boxes<Real>},
    {"upper_bound holds in random boxes, whole", upper_bound_holds_in_random_boxes<Whole>},
    {"upper_bound holds in random boxes, real", upper_bound_holds_in_random_boxes<Real>},
    {"add_by_bin equals add, whole", add_by_bin_equals_add<Whole>},
    {"add_by_bin equals add, real", add_by_bin_equals_add<Real>},
    {"small parts of an outcome, whole", small_parts_of_an_outcome<Whole>},
    {"small parts of an outcome, real", small_parts_of_an_outcome<Real>},

    {"midpoints lie between", midpoints_lie_between},
    {"nearly equal partitions count as equal", nearly_equal_partitions_count_as_equal},
    {"trees equal the definition, whole", trees_equal_the_definition<Whole>},
    {"trees equal the definition, real", trees_equal_the_definition<Real>},
    {"trees do not depend on the way, whole", trees_do_not_depend_on_the_way<Whole>},
    {"trees do not depend on the way, real", trees_do_not_depend_on_the_way<Real>},
    {"large trees do not depend on the way", large_trees_do_not_depend_on_the_way},
    {"partitions add up, whole", partitions_add_up<Whole>},
    {"partitions add up, real", partitions_add_up<Real>},
    {"growth can be interrupted", growth_can_be_interrupted},
    {"a stop at any moment leaves no partial tree", a_stop_at_any_moment_leaves_no_partial_tree},

    {"hyperplanes do not depend on the way", hyperplanes_do_not_depend_on_the_way},
    {"hyperplane splits are counted", hyperplane_splits_are_counted},
    {"rounding moves no point", rounding_moves_no_point},
    {"hyperplanes divide rows of any number", hyperplanes_divide_rows_of_any_number},
    {"bounds are those of sorted numbers", bounds_are_those_of_sorted_numbers},
    {"moments are means of products", moments_are_means_of_products},
    {"single rows have the keys of sets, whole", single_rows_have_the_keys_of_sets<Whole>},
    {"single rows have the keys of sets, real", single_rows_have_the_keys_of_sets<Real>},

    {"spaces are sound, whole", spaces_are_sound<Whole>},
    {"spaces are sound, real", spaces_are_sound<Real>},
    {"spaces do not depend on threads, whole", spaces_do_not_depend_on_threads<Whole>},
    {"spaces do not depend on threads, real", spaces_do_not_depend_on_threads<Real>},
    {"a stop leaves what was explored", a_stop_leaves_what_was_explored},
    {"look-ahead of no level is greedy", look_ahead_of_no_level_is_greedy},

    {"routes equal a naive walk", routes_equal_a_naive_walk},
    {"raw columns grow the same tree in every way", raw_columns_grow_the_same_tree_in_every_way},
    {"every kind of split routes like a naive walk", every_kind_of_split_routes_like_a_naive_walk},
    {"features may be in any column", features_may_be_in_any_column},
    {"weights of a single tree are its leaves", weights_of_a_single_tree_are_its_leaves},
    {"damaged trees are refused", damaged_trees_are_refused},
    {"infinite values are noticed", infinite_values_are_noticed},
    {"training rows return to their leaves", training_rows_return_to_their_leaves},
    {"raw training rows return to their leaves", raw_training_rows_return_to_their_leaves},
    {"routing can be interrupted", routing_can_be_interrupted},

    {"random numbers are those of the definition", random_numbers_are_those_of_the_definition},
    {"random numbers have their moments", random_numbers_have_their_moments},
    {"every item is chosen equally often", every_item_is_chosen_equally_often},
    {"forests do not depend on threads, whole", forests_do_not_depend_on_threads<Whole>},
    {"forests do not depend on threads, real", forests_do_not_depend_on_threads<Real>},
    {"nodes draw their own features", nodes_draw_their_own_features},
    {"forests route like their trees", forests_route_like_their_trees},
    {"damaged forests are refused", damaged_forests_are_refused},
    {"planes divide rows of all sizes", planes_divide_rows_of_all_sizes},
    {"few rows are too close to tell", few_rows_are_too_close_to_tell},
    {"rows that are not finite are not rounded", rows_that_are_not_finite_are_not_rounded},
    {"infinite values of forests are noticed", infinite_values_of_forests_are_noticed},
    {"forests can be interrupted", forests_can_be_interrupted},
};

}  // namespace

int main(int n_arguments, char** arguments) { return run_tests(kTests, n_arguments > 1 ? arguments[1] : ""); }
