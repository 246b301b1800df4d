// Models that repeat in time.
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/time_slices.hpp"

namespace treesample::python {
namespace {

using Pairs = std::vector<std::pair<int, int>>;
using Weights = std::vector<std::pair<int, std::vector<double>>>;

Observations observations_of(const Pairs& states, const Weights& weights) {
  Observations seen;
  for (const auto& [variable, state] : states) seen.states.push_back({variable, state});
  for (const auto& [variable, numbers] : weights) seen.soft.push_back({variable, numbers});
  return seen;
}

class Slices {
 public:
  Slices(const FactorGraph& slice, const Pairs& links, const FactorGraph& start)
      : num_variables_(slice.num_variables()) {
    TimeModel model{.slice = slice, .links = {}, .start = start.factors()};
    for (const auto& [before, now] : links) model.links.push_back({before, now});
    for (int v = 0; v < num_variables_; ++v) num_states_ += static_cast<std::size_t>(slice.num_states(v));
    slices_ = std::make_unique<TimeSlices>(std::move(model));
  }

  void reset() { slices_->reset(); }
  [[nodiscard]] int num_steps() const { return slices_->num_steps(); }

  // log Z, and the marginals of all variables one after the other; NaN where it is impossible.
  py::tuple step(const Pairs& states, const Weights& weights) {
    const SliceAnswer answer = slices_->step(observations_of(states, weights));
    std::vector<double> row(num_states_, std::numeric_limits<double>::quiet_NaN());
    put(answer, row.data());
    const auto width = static_cast<py::ssize_t>(num_states_);
    return py::make_tuple(answer.log_z, to_array(std::move(row), {width}));
  }

  // The same for many rows of states, -1 where nothing is known: from what is known now on, or of all together.
  py::tuple filter(const States& states) { return many(states, false); }
  py::tuple smooth(const States& states) { return many(states, true); }

  [[nodiscard]] FactorGraph unrolled(int num_slices) const { return slices_->unrolled(num_slices); }
  [[nodiscard]] int place(int slice, int variable) const { return slices_->place(slice, variable); }

 private:
  py::tuple many(const States& states, bool is_smooth) {
    const Rows rows(states, num_variables_);
    std::vector<Observations> seen(rows.size());
    for (std::size_t t = 0; t < rows.size(); ++t) {
      for (int v = 0; v < num_variables_; ++v) {
        if (rows[t][static_cast<std::size_t>(v)] >= 0)
          seen[t].states.push_back({v, rows[t][static_cast<std::size_t>(v)]});
      }
    }
    std::vector<double> log_z, all(rows.size() * num_states_, std::numeric_limits<double>::quiet_NaN());
    {
      const py::gil_scoped_release others_may_run;
      if (is_smooth) {
        const std::vector<SliceAnswer> answers = slices_->smooth(seen, [] {
          const py::gil_scoped_acquire interpreter;
          return PyErr_CheckSignals() != 0;
        });
        for (std::size_t t = 0; t < answers.size(); ++t) {
          log_z.push_back(answers[t].log_z);
          put(answers[t], all.data() + t * num_states_);
        }
      } else {
        for (std::size_t t = 0; t < seen.size(); ++t) {
          const SliceAnswer answer = slices_->step(seen[t]);
          log_z.push_back(answer.log_z);
          put(answer, all.data() + t * num_states_);
        }
      }
    }
    const auto count = static_cast<py::ssize_t>(rows.size()), width = static_cast<py::ssize_t>(num_states_);
    return py::make_tuple(to_array(std::move(log_z), {count}), to_array(std::move(all), {count, width}));
  }

  static void put(const SliceAnswer& answer, double* to) {
    for (const std::vector<double>& of_variable : answer.marginals)
      to = std::copy(of_variable.begin(), of_variable.end(), to);
  }

  int num_variables_ = 0;
  std::size_t num_states_ = 0;
  std::unique_ptr<TimeSlices> slices_;
};

}  // namespace

void bind_slices(py::module_& module) {
  py::class_<Slices>(module, "TimeSlices")
      .def(py::init<const FactorGraph&, const Pairs&, const FactorGraph&>())
      .def("reset", &Slices::reset)
      .def_property_readonly("num_steps", &Slices::num_steps)
      .def("step", &Slices::step)
      .def("filter", &Slices::filter)
      .def("smooth", &Slices::smooth)
      .def("unrolled", &Slices::unrolled)
      .def("place", &Slices::place);
}

}  // namespace treesample::python
