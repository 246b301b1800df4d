// The posterior over structures of Bayesian networks.
#include "bindings.hpp"
#include "raised.hpp"
#include "treesample/program/dag_posterior.hpp"
#include "watcher.hpp"

namespace treesample::python {
namespace {

template <class Number, class Array>
std::vector<std::vector<Number>> rows_of(const Array& table) {
  if (table.ndim() != 2) throw Error(ErrorCode::kArgument, "a table has rows and columns");
  std::vector<std::vector<Number>> rows;
  const auto width = static_cast<std::size_t>(table.shape(1));
  for (std::size_t row = 0; row < static_cast<std::size_t>(table.shape(0)); ++row) {
    rows.emplace_back(table.data() + row * width, table.data() + (row + 1) * width);
  }
  return rows;
}

py::array_t<double> array_of(const std::vector<std::vector<double>>& rows) {
  std::vector<double> all;
  for (const std::vector<double>& row : rows) all.insert(all.end(), row.begin(), row.end());
  return to_array(std::move(all), {static_cast<py::ssize_t>(rows.size()), static_cast<py::ssize_t>(rows.at(0).size())});
}

py::tuple dag_of(const Dag& dag) { return py::make_tuple(dag.parents, dag.log_score, dag.log_prob); }

DagPosterior posterior_of(const Doubles& scores, int samples, std::uint64_t seed, std::optional<double> time,
                          std::optional<std::size_t> memory) {
  Limits limits;
  if (time) limits.seconds = *time;
  if (memory) limits.bytes = *memory;
  DagScores rows = rows_of<double>(scores);
  const auto raised = std::make_shared<Raised>();
  Watcher watcher(py::none(), raised);
  try {
    const py::gil_scoped_release others_may_run;
    return dag_posterior(std::move(rows), {samples, seed}, limits, watcher.observer());
  } catch (const Error&) {
    if (!raised->is_stopped()) throw;
  }
  const py::object error = raised->take();
  PyErr_SetObject(py::type::of(error).ptr(), error.ptr());
  throw py::error_already_set();
}

}  // namespace

void bind_dag(py::module_& module) {
  py::class_<DagPosterior>(module, "DagPosterior")
      .def_readonly("log_z", &DagPosterior::log_z)
      .def_property_readonly("lower", [](const DagPosterior& p) { return p.bounds.lower; })
      .def_property_readonly("upper", [](const DagPosterior& p) { return p.bounds.upper; })
      .def_property_readonly("edges", [](const DagPosterior& p) { return array_of(p.edges); })
      .def_property_readonly("parent_sets", [](const DagPosterior& p) { return array_of(p.parent_sets); })
      .def_property_readonly("best", [](const DagPosterior& p) { return dag_of(p.best); })
      .def_property_readonly("samples",
                             [](const DagPosterior& p) {
                               py::list list;
                               for (const Dag& dag : p.samples) list.append(dag_of(dag));
                               return list;
                             })
      .def_readonly("num_states", &DagPosterior::num_states)
      .def_readonly("seconds", &DagPosterior::seconds);
  module.def("dag_posterior", &posterior_of);
  module.def("bge_scores", [](const Doubles& table, double alpha_mu) {
    return array_of(bge_scores(rows_of<double>(table), {alpha_mu}));
  });
  module.def("bdeu_scores", [](const States& table, double equivalent_sample_size, const std::vector<int>& num_states) {
    return array_of(bdeu_scores(rows_of<int>(table), {equivalent_sample_size, num_states}));
  });
}

}  // namespace treesample::python
