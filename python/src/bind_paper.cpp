// The paper's tree search by itself.
#include <limits>
#include <span>

#include "bindings.hpp"
#include "treesample/error.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/tree/tree_sample.hpp"
#include "watcher.hpp"

namespace treesample::python {
namespace {

struct PaperResult {
  TreeSearchResult result;
  int num_variables = 0;
  std::vector<int> num_states = {};

  void check(std::span<const int> x) const {
    check_range("TreeSearch", "number of states given", std::ssize(x), num_variables, num_variables);
    for (std::size_t v = 0; v < x.size(); ++v) check_range("TreeSearch", "state", x[v], 0, num_states[v] - 1);
  }
};

// Algorithm 2 in the given order, with the paper's default Q_phi.
std::shared_ptr<PaperResult> tree_search(const FactorGraph& graph, const std::vector<int>& order, std::int64_t budget,
                                         double c, double epsilon, bool has_random_ties, std::uint64_t seed) {
  const SearchSpace space = make_search_space(graph, order, SpaceKind::kTree);
  TreeSearchOptions options{
      .c = c, .epsilon = epsilon, .ties = has_random_ties ? TieRule::kRandom : TieRule::kLowest, .seed = seed};
  const auto raised = std::make_shared<Raised>();
  Watcher watcher(py::none(), raised);
  std::shared_ptr<PaperResult> result;
  {
    const py::gil_scoped_release others_may_run;
    result = std::make_shared<PaperResult>(PaperResult{
        tree_sample(graph, space, {}, {.budget = budget}, options, watcher.observer()), graph.num_variables()});
  }
  for (int v = 0; v < graph.num_variables(); ++v) result->num_states.push_back(graph.num_states(v));
  if (raised->is_stopped()) {
    const py::object error = raised->take();
    PyErr_SetObject(py::type::of(error).ptr(), error.ptr());
    throw py::error_already_set();
  }
  return result;
}

py::array_t<std::int32_t> draw(const PaperResult& paper, int count, std::uint64_t seed) {
  check_range("TreeSearch.sample", "count", count, 0, std::numeric_limits<int>::max());
  Random random(seed, "samples");
  TreeApproximation::SampleBatch batch = paper.result.approximation.sample_batch(count, random);
  return to_array(std::move(batch.states), {count, paper.num_variables});
}

py::array_t<double> log_probs(const PaperResult& paper, const States& states) {
  std::vector<double> values;
  const Rows rows(states, paper.num_variables);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::span<const int> x = rows[r];
    paper.check(x);
    values.push_back(paper.result.approximation.log_prob(x));
  }
  const auto count = static_cast<py::ssize_t>(values.size());
  return to_array(std::move(values), {count});
}

// The Q-values of the nodes that x passes, as far as they are in the tree.
py::list q_along(const PaperResult& paper, const std::vector<int>& x) {
  paper.check(x);
  py::list levels;
  paper.result.approximation.visit_path(x, [&](int /*level*/, std::span<const double> q) {
    levels.append(to_array(std::vector<double>(q.begin(), q.end()), {static_cast<py::ssize_t>(q.size())}));
  });
  return levels;
}

}  // namespace

void bind_paper(py::module_& module) {
  py::class_<PaperResult, std::shared_ptr<PaperResult>>(module, "TreeSearch")
      .def_property_readonly("log_z", [](const PaperResult& paper) { return paper.result.approximation.log_z(); })
      .def_property_readonly("is_exact", [](const PaperResult& paper) { return paper.result.approximation.is_exact(); })
      .def_property_readonly("evaluations",
                             [](const PaperResult& paper) { return paper.result.report.spent.reward_evaluations; })
      .def_property_readonly("num_nodes", [](const PaperResult& paper) { return paper.result.report.num_nodes; })
      .def("sample", &draw)
      .def("log_prob", &log_probs)
      .def("q_along", &q_along);
  module.def("tree_search", &tree_search);
}

}  // namespace treesample::python
