// Tests of the core without Python. `core_tests [part of a name]` runs all tests, or those so named.
#include "harness.hpp"

int main(int n_arguments, char** arguments) {
  using namespace baytree::tests;
  return run_tests(Suite::all(), n_arguments > 1 ? arguments[1] : "");
}
