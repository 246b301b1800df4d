// Exact counts of models that are formulas: variables of two states, and tables that over several variables only say
// what is impossible. They are in the library treesample-formulas, which hands them over as treesample-calls does its
// methods (infer/call_methods.hpp); without it, such models are counted like all others.
#pragma once

#include <cstdint>
#include <optional>

#include "treesample/count/count.hpp"

namespace treesample {

struct FormulaMethods {
  // None if the model is no formula.
  std::optional<CountResult> (*count)(const FactorGraph& graph, const Limits& limits, std::uint64_t seed,
                                      const Observer& observer);
};

// Null unless the library is linked.
const FormulaMethods* formula_methods();
void link_formula_methods(const FormulaMethods& methods);

}  // namespace treesample
