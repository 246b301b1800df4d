// The methods for factors that cost. They are in the library treesample-calls, which needs packages that this library
// does without; a program that does not link it has no such methods, and `infer` does not offer them.
//
// treesample-calls hands them over before main() begins (calls/link_calls.cpp). Its targets of CMake and pkg-config
// name a symbol of that file, so that a static link cannot drop it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "infer/phase_verbs.hpp"
#include "treesample/io/program_set.hpp"
#include "treesample/value/function_value.hpp"

namespace treesample {

struct CallMethods {
  PhaseVerb* run_learned;
  PhaseVerb* run_monotone;
  bool (*wants_learning)(const FactorGraph& graph, std::int64_t calls, std::string& why);
  bool (*wants_boxes)(const FactorGraph& graph, std::string& why);
  ValueFunction (*program_value)(const std::string& file, const FactorGraph& graph, const ShouldStop& should_stop);
  // The functions of a model behind a queue, which knows which of their calls are new.
  std::shared_ptr<ProgramSet> (*queue_of_functions)(const FactorGraph& graph);
};

// Null unless the library is linked.
const CallMethods* call_methods();
// Throws OptionError naming the option if the library is not linked.
const CallMethods& call_methods_for(std::string_view option);
void link_call_methods(const CallMethods& methods);

}  // namespace treesample
