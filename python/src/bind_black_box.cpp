// Black boxes: ask, tell, answer.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "treesample/blackbox/black_box.hpp"
#include "treesample/calls/black_box_answer.hpp"
#include "treesample/error.hpp"

namespace treesample::python {
namespace {

// What is known of the noise: nothing, that there is none, that there is some, its standard deviation.
void set_noise(BlackBoxOptions& options, const py::object& noise) {
  if (noise.is_none()) return;
  options.looks_for_noise = false;
  if (py::isinstance<py::bool_>(noise)) {
    options.noise.is_there = noise.cast<bool>();
  } else {
    options.noise = {true, noise.cast<double>()};
  }
}

// The functions are never called: their values are told.
BlackBox make_box(FactorGraph graph, const std::vector<std::vector<int>>& scopes, std::uint64_t seed, bool wants_best,
                  const py::object& noise, double confidence) {
  for (const std::vector<int>& scope : scopes) {
    graph.add_factor(Factor::function(scope, [](std::span<const int>) -> double {
      throw Error(ErrorCode::kInternal, "the values of a black box are told");
    }));
  }
  BlackBoxOptions options;
  options.seed = seed;
  options.wants_best = wants_best;
  options.confidence = confidence;
  set_noise(options, noise);
  return BlackBox(std::move(graph), options);
}

py::array_t<std::int32_t> rows_of(const std::vector<Assignment>& asked, py::ssize_t width) {
  std::vector<std::int32_t> states;
  for (const Assignment& x : asked) states.insert(states.end(), x.begin(), x.end());
  return to_array(std::move(states), {static_cast<py::ssize_t>(asked.size()), width});
}

// Ctrl-C ends a fit.
template <class Work>
auto unless_interrupted(const Work& work) {
  std::optional<py::error_already_set> interrupt;
  const ShouldStop should_stop = [&interrupt] {
    const py::gil_scoped_acquire interpreter;
    if (!interrupt && PyErr_CheckSignals() != 0) interrupt.emplace();
    return interrupt.has_value();
  };
  auto result = [&] {
    const py::gil_scoped_release others_may_run;
    return work(should_stop);
  }();
  if (interrupt) throw *interrupt;
  return result;
}

void tell_rows(BlackBox& box, const States& states, const Doubles& values) {
  const std::span<const double> all(values.data(), static_cast<std::size_t>(values.size()));
  const Rows rows(states, static_cast<int>(states.shape(1)));
  for (std::size_t r = 0; r < rows.size(); ++r) box.tell(rows[r], all[r]);
}

py::list told(const BlackBox& box) {
  py::list list;
  for (const ToldValue& one : box.told()) list.append(py::make_tuple(one.factor, one.states, one.value, one.why));
  return list;
}

}  // namespace

void bind_black_box(py::module_& module) {
  py::class_<BlackBox>(module, "BlackBox")
      .def(py::init(&make_box))
      .def("ask",
           [](BlackBox& box, int n, py::ssize_t width, bool for_errors) {
             return rows_of(unless_interrupted([&](const ShouldStop& should_stop) {
                              return for_errors ? box.ask_check(n, should_stop) : box.ask(n, should_stop);
                            }),
                            width);
           })
      .def("tell", &tell_rows)
      .def("tell_function", [](BlackBox& box, int factor, const std::vector<int>& states,
                               double value) { box.tell_function(factor, states, value); })
      .def("tell_done", [](BlackBox& box, const std::vector<int>& x) { box.tell_done(x); })
      .def("tell_failed",
           [](BlackBox& box, const std::vector<int>& x, const std::string& why) { box.tell_failed(x, why); })
      .def("tell_function_failed", [](BlackBox& box, int factor, const std::vector<int>& states,
                                      const std::string& why) { box.tell_function_failed(factor, states, why); })
      .def("answer",
           [](BlackBox& box) {
             return std::make_shared<Answer>(as_answer(
                 box, unless_interrupted([&](const ShouldStop& should_stop) { return box.answer(should_stop); })));
           })
      .def_property_readonly("best",
                             [](const BlackBox& box) -> std::optional<std::pair<std::vector<int>, double>> {
                               const std::optional<Configuration> best = box.best();
                               if (!best) return std::nullopt;
                               return std::pair(best->x, best->log_density);
                             })
      .def("told", &told)
      .def_property_readonly("num_told", &BlackBox::num_told)
      .def_property_readonly("proposers", &BlackBox::proposers)
      .def("save", &BlackBox::save)
      .def("load", [](BlackBox& box, const std::string& text) { box.load(text); });
}

}  // namespace treesample::python
