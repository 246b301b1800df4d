// Hands the methods of this library over to `infer`.
#include <memory>

#include "calls/methods.hpp"
#include "infer/call_methods.hpp"
#include "treesample/oracle/oracle_set.hpp"
#include "treesample/oracle/program_value.hpp"

namespace {

std::shared_ptr<treesample::ProgramSet> queue_of_functions(const treesample::FactorGraph& graph) {
  return std::make_shared<treesample::OracleSet>(graph, /*version=*/"", treesample::OracleOptions{});
}

}  // namespace

// The symbol that the targets of CMake and pkg-config name.
extern "C" const bool treesample_calls_is_linked;
const bool treesample_calls_is_linked = [] {
  treesample::link_call_methods({.run_learned = treesample::learn_functions,
                                 .run_monotone = treesample::search_boxes,
                                 .wants_learning = treesample::is_worth_learning,
                                 .wants_boxes = treesample::is_worth_boxes,
                                 .program_value = treesample::program_value,
                                 .queue_of_functions = queue_of_functions});
  return true;
}();
