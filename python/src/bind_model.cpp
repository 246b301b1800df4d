// Models: variables, tables, functions; reading and writing files.
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "interruptible.hpp"
#include "python_executor.hpp"
#include "python_factor.hpp"
#include "treesample/error.hpp"
#include "treesample/families/family.hpp"
#include "treesample/infer/model_input.hpp"
#include "treesample/io/json_model.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/model/log_value.hpp"
#include "treesample/model/only_if.hpp"
#include "treesample/text.hpp"

namespace treesample::python {
namespace {

int add_table(FactorGraph& graph, std::vector<int> scope, const Doubles& log_values) {
  const double* const first = log_values.data();
  return graph.add_table(std::move(scope), std::vector<double>(first, first + log_values.size()));
}

// How a function is called, and what becomes of its exceptions (python_factor.hpp).
struct FunctionOptions {
  std::optional<double> log_max, cost;
  int max_batch = 0;  // 0: it takes single states
  std::optional<double> on_failure;
  std::shared_ptr<Raised> raised;
  bool is_paid = false;
  py::object fatal;
  std::vector<int> directions = {};  // 1: increasing, -1: decreasing, one per variable; empty: not monotone
};

FunctionTraits traits_of(const FactorGraph& graph, const std::vector<int>& scope, py::object function,
                         const std::vector<py::list>& labels, const FunctionOptions& options) {
  FunctionTraits traits{.function = std::move(function), .names = {}, .labels = {}};
  traits.on_failure = options.on_failure;
  traits.raised = options.raised;
  traits.is_paid = options.is_paid;
  traits.fatal = options.fatal;
  check_range("Graph.add_function", "number of lists of labels", std::ssize(labels), std::ssize(scope),
              std::ssize(scope));
  for (std::size_t i = 0; i < scope.size(); ++i) {
    check_range("Graph.add_function", "variable", scope[i], 0, graph.num_variables() - 1);
    check_range("Graph.add_function", "number of labels", std::ssize(labels[i]), graph.num_states(scope[i]),
                graph.num_states(scope[i]));
    traits.names.push_back(graph.variable(scope[i]).name);
    std::vector<py::object>& of_variable = traits.labels.emplace_back();
    for (const py::handle label : labels[i]) of_variable.push_back(py::reinterpret_borrow<py::object>(label));
  }
  return traits;
}

// Where there is an executor, it makes the calls.
int add_function(FactorGraph& graph, const std::vector<int>& scope, const py::object& function,
                 const std::vector<py::list>& labels, const FunctionOptions& options,
                 const std::shared_ptr<PythonExecutor>& executor) {
  FunctionTraits traits = traits_of(graph, scope, function, labels, options);
  if (executor) executor->add_function(graph.num_factors(), traits, options.max_batch > 0);
  std::vector<Direction> directions;
  for (const int sign : options.directions) directions.push_back(static_cast<Direction>(sign));
  // Witnesses are of use where the function is monotone, and looking for them costs.
  Factor factor =
      options.max_batch > 0 ? Factor::batch_function(scope, PythonBatch::as_function(std::move(traits)),
                                                     options.max_batch, options.log_max, options.cost)
      : directions.empty()
          ? Factor::function(scope, PythonFactor::as_function(std::move(traits)), options.log_max, options.cost)
          : Factor::explained_function(scope, PythonFactor::as_explained(std::move(traits)), options.log_max,
                                       options.cost);
  return graph.add_factor(directions.empty() ? factor : factor.monotone(std::move(directions)));
}

// A view of a table's logarithms, in the shape of its scope: not a copy. It keeps the graph alive.
py::object table_view(const py::object& self, int index) {
  const auto& graph = self.cast<const FactorGraph&>();
  if (index < 0 || index >= graph.num_factors()) throw py::index_error("there is no such factor");
  const Factor& factor = graph.factor(index);
  if (!factor.has_table()) return py::none();
  std::vector<py::ssize_t> shape;
  for (const int v : factor.scope()) shape.push_back(graph.num_states(v));
  py::array_t<double> view(shape, factor.log_values().data(), self);
  view.attr("flags").attr("writeable") = false;
  return view;
}

// Adds a factor that takes many states at once, for the rows that are possible so far. A few nanoseconds per row: what
// needs a text is looked at only where something is wrong.
void add_batches(const FactorGraph& graph, int index, const Rows& x, std::span<double> log_values) {
  const Factor& factor = graph.factor(index);
  const std::vector<int>& scope = factor.scope();
  const double most = std::min(kMaxLogValue, factor.log_max().value_or(kMaxLogValue));
  const auto batch = static_cast<std::size_t>(factor.max_batch());
  std::vector<int> rows(batch * scope.size());
  std::vector<std::size_t> places(batch);
  std::vector<double> values(batch);
  std::size_t count = 0;
  const auto ask = [&] {
    factor.batch()(std::span(rows).first(count * scope.size()), static_cast<int>(count),
                   std::span(values).first(count));
    for (std::size_t i = 0; i < count; ++i) {
      if (!(values[i] >= -kLargestMagnitude && values[i] <= most)) {
        const std::string problem = log_value_problem(values[i], factor.log_max());
        if (!problem.empty()) {
          throw Error(ErrorCode::kNumeric, "factor " + std::to_string(index) + " has the log-value " + problem);
        }
      }
      log_values[places[i]] += values[i];
    }
    count = 0;
  };
  for (std::size_t r = 0; r < x.size(); ++r) {
    if (std::isinf(log_values[r])) continue;
    const int* const states = x[r].data();
    int* const row = rows.data() + count * scope.size();
    for (std::size_t i = 0; i < scope.size(); ++i) row[i] = states[scope[i]];
    places[count++] = r;
    if (count == batch) ask();
  }
  if (count > 0) ask();
}

py::array_t<double> log_densities(const FactorGraph& graph, const States& states) {
  const Rows rows(states, graph.num_variables());
  std::vector<double> values(rows.size(), 0.0);
  const bool has_batches = std::any_of(graph.factors().begin(), graph.factors().end(),
                                       [](const Factor& factor) { return factor.batch() != nullptr; });
  std::vector<int> num_states;
  for (int v = 0; v < graph.num_variables(); ++v) num_states.push_back(graph.num_states(v));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (!has_batches) {
      values[r] = graph.log_density(rows[r]);
      continue;
    }
    bool is_allowed = true;
    for (std::size_t v = 0; v < num_states.size(); ++v) is_allowed &= rows[r][v] >= 0 && rows[r][v] < num_states[v];
    if (!is_allowed) graph.check_assignment(rows[r], "log_density");  // which says what is wrong
  }
  for (int m = 0; has_batches && m < graph.num_factors(); ++m) {
    if (graph.factor(m).batch()) {
      add_batches(graph, m, rows, values);
      continue;
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (!std::isinf(values[r])) values[r] += graph.log_value(m, rows[r]);
    }
  }
  const auto count = static_cast<py::ssize_t>(values.size());
  return to_array(std::move(values), {count});
}

FactorGraph family(const std::string& name, const std::string& reading, std::uint64_t seed, std::uint64_t instance,
                   const std::map<std::string, double>& values) {
  FamilyOptions options;
  options.reading = reading == "best" ? Reading::kBest : Reading::kLetter;
  options.seed = seed;
  options.instance = instance;
  options.values = values;
  return make_family(name, options).graph;
}

// What a file has: the graph, the states and the weights that were observed, and whether there are programs.
using FileModel =
    std::tuple<FactorGraph, std::vector<std::pair<int, int>>, std::vector<std::pair<int, std::vector<double>>>, bool>;

FileModel read_file(const std::filesystem::path& path, bool allows_programs) {
  const std::string name = path.string();
  InputOptions options;
  OracleOptions programs;
  options.open_programs = [&](const JsonModel& model) {
    if (!allows_programs) throw_argument(name, "the model runs programs; allow_programs=True lets it");
    return std::make_shared<OracleSet>(model, programs);
  };
  return interruptible(programs, [&] {
    const Model model = read_input(name, options).model;
    if (model.circuit) throw_argument(name, "circuits are for `treesample infer`");
    if (model.programs) model.programs->set_should_stop({});
    FileModel file{model.graph, {}, {}, model.programs != nullptr};
    for (const Observation& seen : model.evidence) std::get<1>(file).emplace_back(seen.variable, seen.state);
    for (const SoftObservation& seen : model.soft_evidence) std::get<2>(file).emplace_back(seen.variable, seen.weights);
    return file;
  });
}

}  // namespace

void bind_model(py::module_& module) {
  py::class_<FunctionOptions>(module, "FunctionOptions")
      .def(py::init([](std::optional<double> log_max, std::optional<double> cost, int max_batch,
                       std::optional<double> on_failure, std::shared_ptr<Raised> raised, bool is_paid, py::object fatal,
                       std::vector<int> directions) {
        return FunctionOptions{log_max,           cost,    max_batch,        on_failure,
                               std::move(raised), is_paid, std::move(fatal), std::move(directions)};
      }));
  py::class_<Inbox, std::shared_ptr<Inbox>>(module, "Inbox")
      .def("put", &Inbox::put)
      .def("put_error", &Inbox::put_error);
  py::class_<PythonExecutor, std::shared_ptr<PythonExecutor>>(module, "Executor")
      .def(py::init<py::object, py::object, std::shared_ptr<Raised>, int>());
  py::class_<FactorGraph>(module, "Graph")
      .def(py::init<>())
      .def(
          "add_variable",
          [](FactorGraph& graph, int num_states, std::string name, std::vector<std::string> state_names,
             std::vector<double> levels) {
            return graph.add_variable({num_states, std::move(name), std::move(state_names), std::move(levels)});
          },
          py::arg("num_states"), py::arg("name"), py::arg("state_names"), py::arg("levels") = std::vector<double>())
      .def("add_table", &add_table)
      .def("add_only_if", [](FactorGraph& graph, int variable, int other,
                             const std::vector<int>& states) { return add_only_if(graph, variable, other, states); })
      .def("add_function", &add_function, py::arg("scope"), py::arg("function"), py::arg("labels"), py::arg("options"),
           py::arg("executor") = nullptr)
      .def_property_readonly("num_variables", &FactorGraph::num_variables)
      .def_property_readonly("num_factors", &FactorGraph::num_factors)
      .def("variable",
           [](const FactorGraph& graph, int index) {
             check_range("Graph.variable", "index", index, 0, graph.num_variables() - 1);
             const Variable& variable = graph.variable(index);
             return py::make_tuple(variable.num_states, variable.name, variable.state_names, variable.levels);
           })
      .def("scope",
           [](const FactorGraph& graph, int index) {
             check_range("Graph.scope", "index", index, 0, graph.num_factors() - 1);
             return graph.factor(index).scope();
           })
      .def("table", &table_view)
      .def("value",
           [](const FactorGraph& graph, int index, const std::vector<int>& states) {
             if (index < 0 || index >= graph.num_factors()) throw py::index_error("there is no such factor");
             const std::vector<int>& scope = graph.factor(index).scope();
             if (scope.size() != states.size()) throw py::value_error("one state per variable of the factor");
             Assignment x(static_cast<std::size_t>(graph.num_variables()), 0);
             for (std::size_t i = 0; i < scope.size(); ++i) {
               check_range("Graph.value", "state", states[i], 0, graph.num_states(scope[i]) - 1);
               x[static_cast<std::size_t>(scope[i])] = states[i];
             }
             return graph.log_value(index, x);
           })
      .def("log_densities", &log_densities)
      .def("copy", [](const FactorGraph& graph) { return FactorGraph(graph); });

  module.attr("max_failure_share") = kMaxFailureShare;
  module.def("log_value_problem", &log_value_problem);
  module.def("levels_problem",
             [](const std::vector<double>& levels, int num_states) { return levels_problem(levels, num_states); });
  module.def("decimal_bound", &decimal_bound);
  module.def("read_file", &read_file);
  module.def("format_model",
             [](const FactorGraph& graph, const std::string& path) { return format_model(graph, path); });
  module.def("family_names", &family_names);
  module.def("family", &family);
}

}  // namespace treesample::python
