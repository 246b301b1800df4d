// Formulas, and their counts as decimal digits, which Python turns into whole numbers and fractions.
#include <pybind11/stl/filesystem.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "raised.hpp"
#include "treesample/count/count.hpp"
#include "treesample/error.hpp"
#include "treesample/formula/count_formula.hpp"
#include "treesample/formula/nnf.hpp"
#include "treesample/io/dimacs.hpp"
#include "watcher.hpp"

namespace treesample::python {
namespace {

using Clauses = std::vector<std::vector<int>>;
using LiteralWeights = std::map<int, std::string>;

// Python has checked the numbers.
Formula make_formula(int num_variables, const Clauses& clauses, const LiteralWeights& weights,
                     std::optional<std::vector<int>> shown) {
  Formula formula{.num_variables = num_variables, .shown = std::move(shown)};
  for (const std::vector<int>& clause : clauses) formula.add_clause(clause);
  if (!weights.empty()) formula.weights.resize(2 * static_cast<std::size_t>(num_variables));
  for (const auto& [literal, weight] : weights) formula.weights[Formula::literal_index(literal)] = weight;
  // What a file may not say, this may not either: weights that are no numbers, and clauses are put in order.
  return parse_formula(format_formula(formula), "formula");
}

Clauses clauses_of(const Formula& formula) {
  Clauses clauses;
  for (int c = 0; c < formula.num_clauses(); ++c) {
    clauses.emplace_back(formula.clause(c).begin(), formula.clause(c).end());
  }
  return clauses;
}

LiteralWeights weights_of(const Formula& formula) {
  LiteralWeights weights;
  for (std::size_t i = 0; i < formula.weights.size(); ++i) {
    const int v = static_cast<int>(i / 2) + 1;
    if (!formula.weights[i].empty()) weights[i % 2 == 0 ? v : -v] = formula.weights[i];
  }
  return weights;
}

// What a watcher's signals and callables raised.
void raise_again(Raised& raised) {
  const py::object error = raised.take();
  if (error.is_none()) return;
  PyErr_SetObject(py::type::of(error).ptr(), error.ptr());
  throw py::error_already_set();
}

void compile(const Formula& formula, const std::filesystem::path& path, double seconds,
             std::optional<std::size_t> bytes) {
  Limits limits{.seconds = seconds};
  if (bytes) limits.bytes = *bytes;
  const auto raised = std::make_shared<Raised>();
  Watcher watcher(py::none(), raised);
  CountResult result;
  {
    const py::gil_scoped_release others_may_run;
    result = treesample::count(formula_graph(formula), limits, {.keep_circuit = true}, watcher.observer());
    if (result.circuit) write_compiled(*result.circuit, path);
  }
  raise_again(*raised);
  if (result.circuit) return;
  const bool is_impossible = result.is_solved && std::isinf(result.report.log_z.upper);
  throw Error(is_impossible ? ErrorCode::kArgument : ErrorCode::kResource,
              path.string() + " was not written: " +
                  (is_impossible ? "the formula has no solution"
                                 : std::string("time or memory did not suffice: ") + to_string(result.report.stop)));
}

FormulaCount count_of(const Formula& formula, double seconds, std::optional<std::size_t> bytes, int threads,
                      const FormulaOptions& options, py::object progress) {
  Limits limits{.seconds = seconds, .threads = threads};
  if (bytes) limits.bytes = *bytes;
  const auto raised = std::make_shared<Raised>();
  Watcher watcher(std::move(progress), raised);
  FormulaCount count;
  {
    const py::gil_scoped_release others_may_run;
    count = count_formula(formula, limits, options, watcher.observer());
  }
  raise_again(*raised);
  return count;
}

}  // namespace

void bind_formula(py::module_& module) {
  py::class_<Formula>(module, "Formula")
      .def(py::init(&make_formula))
      .def_readonly("num_variables", &Formula::num_variables)
      .def_readonly("kind", &Formula::kind)
      .def_readonly("shown", &Formula::shown)
      .def_property_readonly("num_clauses", &Formula::num_clauses)
      .def_property_readonly("clauses", &clauses_of)
      .def_property_readonly("weights", &weights_of)
      .def("text", &format_formula)
      .def("graph", &formula_graph)
      .def("compile", &compile)
      .def("count", [](const Formula& formula, double seconds, std::optional<std::size_t> bytes, int threads,
                       const std::string& reductions, bool has_elimination, std::uint64_t seed, py::object progress) {
        const FormulaOptions options{.has_reductions = reductions != "none",
                                     .has_definitions = reductions == "all",
                                     .has_elimination = has_elimination,
                                     .seed = seed};
        return count_of(formula, seconds, bytes, threads, options, std::move(progress));
      });
  py::class_<FormulaCount>(module, "FormulaCount")
      .def_readonly("is_solved", &FormulaCount::is_solved)
      .def_readonly("is_satisfiable", &FormulaCount::is_satisfiable)
      .def_readonly("numerator", &FormulaCount::numerator)
      .def_readonly("denominator", &FormulaCount::denominator)
      .def_readonly("has_negative_weights", &FormulaCount::has_negative_weights)
      .def_property_readonly("lower", [](const FormulaCount& c) { return c.log_count.lower; })
      .def_property_readonly("upper", [](const FormulaCount& c) { return c.log_count.upper; })
      .def_property_readonly("stop", [](const FormulaCount& c) { return to_string(c.report.stop); })
      .def_property_readonly("seconds", [](const FormulaCount& c) { return c.report.seconds; })
      .def_property_readonly("decisions", [](const FormulaCount& c) { return c.report.num_decisions; })
      .def_property_readonly("width", [](const FormulaCount& c) { return c.report.width; });
  module.def("parse_formula", &parse_formula);
  module.def("formula_of", &formula_of);
  module.def("count_nnf", [](const std::string& text, const std::string& name) {
    const py::gil_scoped_release others_may_run;
    return count_nnf(parse_nnf(text, name));
  });
}

}  // namespace treesample::python
