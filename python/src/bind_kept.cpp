// What is asked many times: kept eliminations, many cases, expected counts; and interventions.
#include <pybind11/stl/filesystem.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "raised.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/expected_counts.hpp"
#include "treesample/exact/kept_elimination.hpp"
#include "treesample/infer/cases.hpp"
#include "treesample/model/names.hpp"
#include "treesample/model/network.hpp"
#include "treesample/reduce/intervention.hpp"
#include "watcher.hpp"

namespace treesample::python {
namespace {

using Pairs = std::vector<std::pair<int, int>>;

Evidence evidence_of(const Pairs& pairs) {
  Evidence evidence;
  for (const auto& [variable, state] : pairs) evidence.push_back({variable, state});
  return evidence;
}

std::size_t num_entries(const FactorGraph& graph, const std::vector<int>& factors) {
  std::size_t count = 0;
  for (const int m : factors) {
    check_range("parameters", "factor", m, 0, graph.num_factors() - 1);
    count += graph.factor(m).log_values().size();
  }
  return count;
}

// A kept elimination of one lane. All variables have weights, and their marginals may be asked for.
class Kept {
 public:
  Kept(const FactorGraph& graph, std::vector<int> parameters, bool has_marginals, double order_work, double most_bytes)
      : graph_(graph), parameters_(std::move(parameters)), num_entries_(num_entries(graph, parameters_)) {
    KeptOptions options{.parameters = parameters_, .order_work = order_work, .most_bytes = most_bytes};
    for (int v = 0; v < graph.num_variables(); ++v) {
      options.weighted.push_back(v);
      num_states_ += static_cast<std::size_t>(graph.num_states(v));
      if (has_marginals) options.asked.push_back({v});
    }
    has_marginals_ = has_marginals;
    const py::gil_scoped_release others_may_run;
    kept_.emplace(graph_, options);
  }

  void set_state(int variable, int state) { kept_->set_only_state(0, variable, state); }
  void set_weights(int variable, const std::vector<double>& weights) { kept_->set_weights(0, variable, weights); }
  void set_tables(const Doubles& log_values) {
    if (static_cast<std::size_t>(log_values.size()) != num_entries_) {
      throw Error(ErrorCode::kArgument, "the tables have " + std::to_string(num_entries_) + " entries, and " +
                                            std::to_string(log_values.size()) + " are given");
    }
    const double* from = log_values.data();
    for (const int m : parameters_) {
      const std::size_t size = graph_.factor(m).log_values().size();
      kept_->set_table(m, {from, size});
      from += size;
    }
  }
  // log Z, its bounds, and whether digits may have been lost.
  py::tuple up() {
    run([&] { kept_->run_up(); });
    const LogBounds bounds = kept_->bounds(0);
    return py::make_tuple(kept_->log_z(0), bounds.lower, bounds.upper, kept_->is_lossy(0));
  }
  void down() {
    run([&] { kept_->run_down(); });
  }
  // Of all variables, one after the other.
  py::array_t<double> marginals() const {
    std::vector<double> all(has_marginals_ ? num_states_ : 0);
    std::size_t at = 0;
    for (int v = 0; has_marginals_ && v < graph_.num_variables(); ++v) {
      const auto count = static_cast<std::size_t>(graph_.num_states(v));
      kept_->asked(v, 0, std::span(all).subspan(at, count));
      at += count;
    }
    const auto size = static_cast<py::ssize_t>(all.size());
    return to_array(std::move(all), {size});
  }
  // Of all parameters, one after the other.
  py::array_t<double> counts() const {
    std::vector<double> all(num_entries_, 0.0);
    std::size_t at = 0;
    for (const int m : parameters_) {
      const std::size_t size = graph_.factor(m).log_values().size();
      kept_->add_counts(m, std::span(all).subspan(at, size));
      at += size;
    }
    const auto size = static_cast<py::ssize_t>(all.size());
    return to_array(std::move(all), {size});
  }

 private:
  // The interpreter is free meanwhile, unless that would take longer than the work.
  template <class Work>
  void run(const Work& work) {
    std::optional<py::gil_scoped_release> others_may_run;
    if (kept_->num_entries() > 1e5) others_may_run.emplace();
    work();
  }

  FactorGraph graph_;
  std::vector<int> parameters_;
  std::size_t num_entries_ = 0, num_states_ = 0;
  bool has_marginals_ = false;
  std::optional<KeptElimination> kept_;
};

// ---- many cases

using Soft = std::vector<std::tuple<int, int, std::vector<double>>>;  // row, variable, weights
using Keywords = std::vector<std::pair<std::string, std::string>>;

// The answers as columns; NaN where there is none.
struct CaseColumns {
  std::vector<double> log_z, lower, upper, probabilities;
  std::vector<std::uint8_t> is_exact;
  std::vector<std::string> conflicts;

  void add(const Answer& answer, const Model& model, std::size_t num_probabilities) {
    log_z.push_back(answer.log_z.value_or(NAN));
    lower.push_back(answer.lower.value_or(NAN));
    upper.push_back(answer.upper.value_or(NAN));
    is_exact.push_back(answer.is_exact ? 1 : 0);
    conflicts.push_back(observations_text(model.graph, answer.conflict));
    const std::size_t begin = probabilities.size();
    probabilities.resize(begin + num_probabilities, NAN);
    auto to = probabilities.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto put = [&](const std::vector<double>& values) {
      if (to + std::ssize(values) <= probabilities.end()) to = std::copy(values.begin(), values.end(), to);
    };
    // A query without an answer has no probabilities: then none of the row has.
    if (!answer.plan.request.question.query.empty()) {
      for (const QueryAnswer& query : answer.queries) put(query.probabilities);
    } else {
      for (const std::vector<double>& values : answer.marginals) put(values);
    }
  }
};

py::tuple solve_cases(const std::shared_ptr<Model>& model, const std::vector<int>& columns, const States& states,
                      const Soft& soft, const Keywords& keywords, const std::vector<std::vector<std::string>>& query,
                      std::size_t num_probabilities, py::object progress, const std::shared_ptr<Raised>& raised) {
  const Rows rows(states, static_cast<int>(columns.size()));
  InferRequest request;
  request.question.query = query;
  request.question.best = false;
  for (const auto& [name, text] : keywords) set_option(request, name, text);
  CaseColumns found;
  Watcher watcher(std::move(progress), raised);
  {
    const py::gil_scoped_release others_may_run;
    std::size_t next_row = 0, next_soft = 0;
    const CaseSource source = [&](Case& now) {
      if (next_row == rows.size()) return false;
      now = Case{std::to_string(next_row + 1), {}};
      for (std::size_t c = 0; c < columns.size(); ++c) {
        if (rows[next_row][c] >= 0) now.observed.states.push_back({columns[c], rows[next_row][c]});
      }
      for (; next_soft < soft.size() && std::get<0>(soft[next_soft]) == static_cast<int>(next_row); ++next_soft) {
        now.observed.soft.push_back({std::get<1>(soft[next_soft]), std::get<2>(soft[next_soft])});
      }
      ++next_row;
      return true;
    };
    const Observer observer = watcher.observer();
    const auto start = std::chrono::steady_clock::now();
    std::size_t num_done = 0;
    infer_cases(*model, source, request.question, request.limits, request.options, observer,
                [&](const Case&, const Answer& answer) {
                  found.add(answer, *model, num_probabilities);
                  ++num_done;
                  if (!observer.progress) return;
                  Progress now;
                  now.phase = "cases";
                  now.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
                  now.share_done = static_cast<double>(num_done) / static_cast<double>(rows.size());
                  observer.progress(now);
                });
  }
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  if (py::object error = raised->take(); !error.is_none()) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
    throw py::error_already_set();
  }
  const auto count = static_cast<py::ssize_t>(found.log_z.size()), width = static_cast<py::ssize_t>(num_probabilities);
  return py::make_tuple(to_array(std::move(found.log_z), {count}), to_array(std::move(found.lower), {count}),
                        to_array(std::move(found.upper), {count}), to_array(std::move(found.is_exact), {count}),
                        to_array(std::move(found.probabilities), {count, width}), std::move(found.conflicts));
}

// Labels, states by variable (-1 where it is missing) and weights.
py::tuple read_case_file(const FactorGraph& graph, const std::filesystem::path& path) {
  const std::vector<Case> cases = read_cases(path, Names(graph));
  const auto width = static_cast<std::size_t>(graph.num_variables());
  std::vector<std::int32_t> states(cases.size() * width, -1);
  std::vector<std::string> labels;
  Soft soft;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    labels.push_back(cases[i].label);
    for (const auto& [variable, state] : cases[i].observed.states) {
      states[i * width + static_cast<std::size_t>(variable)] = state;
    }
    for (const SoftObservation& seen : cases[i].observed.soft) {
      soft.emplace_back(static_cast<int>(i), seen.variable, seen.weights);
    }
  }
  return py::make_tuple(std::move(labels),
                        to_array(std::move(states), {static_cast<py::ssize_t>(cases.size()), graph.num_variables()}),
                        std::move(soft));
}

// ---- learning

class Counts {
 public:
  Counts(const FactorGraph& graph, const States& rows, const std::vector<double>& weights,
         const std::vector<int>& parameters, int threads) {
    const Rows checked(rows, graph.num_variables());
    ExpectedCountsOptions options;
    options.threads = threads;
    const std::span<const int> all(rows.data(), static_cast<std::size_t>(rows.size()));
    const py::gil_scoped_release others_may_run;
    counts_ = std::make_unique<ExpectedCounts>(graph, all, weights, parameters, options);
  }
  py::tuple count(const Doubles& log_tables) {
    std::vector<double> counts(counts_->num_entries());
    double log_likelihood = 0.0;
    {
      const std::span<const double> tables(log_tables.data(), static_cast<std::size_t>(log_tables.size()));
      const py::gil_scoped_release others_may_run;
      log_likelihood = counts_->count(tables, counts);
    }
    const auto size = static_cast<py::ssize_t>(counts.size());
    return py::make_tuple(log_likelihood, to_array(std::move(counts), {size}));
  }

 private:
  std::unique_ptr<ExpectedCounts> counts_;
};

}  // namespace

void bind_kept(py::module_& module) {
  py::class_<Kept>(module, "Kept")
      .def(py::init<const FactorGraph&, std::vector<int>, bool, double, double>())
      .def("set_state", &Kept::set_state)
      .def("set_weights", &Kept::set_weights)
      .def("set_tables", &Kept::set_tables)
      .def("up", &Kept::up)
      .def("down", &Kept::down)
      .def("marginals", &Kept::marginals)
      .def("counts", &Kept::counts);
  py::class_<Counts>(module, "ExpectedCounts")
      .def(py::init<const FactorGraph&, const States&, const std::vector<double>&, const std::vector<int>&, int>())
      .def("count", &Counts::count);
  module.def("solve_cases", &solve_cases);
  module.def("read_cases", &read_case_file);
  module.def("network_problem", [](const FactorGraph& graph) {
    const NetworkCheck check = check_network(graph);
    if (!check.has_form)
      return std::string("it has not one table P(variable | parents) per variable, the variable last");
    return check.warnings.empty() ? std::string() : check.warnings.front();
  });
  module.def("intervened",
             [](const FactorGraph& graph, const Pairs& done) { return intervened(graph, evidence_of(done)); });
}

}  // namespace treesample::python
