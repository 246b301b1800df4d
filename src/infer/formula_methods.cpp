#include "infer/formula_methods.hpp"

namespace treesample {
namespace {

// Written once, before main() begins.
std::optional<FormulaMethods>& linked_formulas() {
  static std::optional<FormulaMethods> methods;
  return methods;
}

}  // namespace

const FormulaMethods* formula_methods() { return linked_formulas() ? &*linked_formulas() : nullptr; }
void link_formula_methods(const FormulaMethods& methods) { linked_formulas() = methods; }

}  // namespace treesample
