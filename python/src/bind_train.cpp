// Training of value functions: the options are keywords with the names that the program has.
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "bindings.hpp"
#include "raised.hpp"
#include "treesample/error.hpp"
#include "treesample/infer/options.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/train/train.hpp"

namespace treesample::python {
namespace {

template <class Field>
using FieldOf = Field& (*)(TrainOptions&);
using Setter = std::function<void(TrainOptions&, const py::object&)>;

template <class Field>
Setter set(FieldOf<Field> field) {
  return [field](TrainOptions& options, const py::object& value) { field(options) = value.cast<Field>(); };
}

// One of several words.
template <class Field>
Setter set(const char* name, FieldOf<Field> field, std::map<std::string, Field> words) {
  return [=](TrainOptions& options, const py::object& value) {
    const auto found = words.find(value.cast<std::string>());
    if (found == words.end()) {
      std::string allowed;
      for (const auto& [word, ignored] : words) allowed += (allowed.empty() ? "" : ", ") + word;
      throw OptionError(name, "is '" + value.cast<std::string>() + "', allowed are: " + allowed);
    }
    field(options) = found->second;
  };
}

void set_order(TrainOptions& options, const py::object& value) {
  InferRequest request;
  set_option(request, "order", value.cast<std::string>());
  options.problems.order = *request.options.order;
}

using Options = TrainOptions;

const std::map<std::string, Setter>& setters() {
  static const std::map<std::string, Setter> table = {
      {"family", set<std::string>([](Options& o) -> std::string& { return o.problems.family; })},
      {"reading", set<Reading>("reading", [](Options& o) -> Reading& { return o.problems.reading; },
                               {{"letter", Reading::kLetter}, {"best", Reading::kBest}})},
      {"fields", set<std::map<std::string, double>>([](Options& o) -> auto& { return o.problems.values; })},
      {"order", set_order},
      {"single", set<bool>([](Options& o) -> bool& { return o.problems.is_single_graph; })},
      {"test_n", set<int>([](Options& o) -> int& { return o.test_n; })},
      {"architecture", set<std::string>([](Options& o) -> std::string& { return o.learner.architecture; })},
      {"method", set<InferenceMethod>("method", [](Options& o) -> InferenceMethod& { return o.episode.method; },
                                      {{"tree", InferenceMethod::kTree}, {"smc", InferenceMethod::kSmc}})},
      {"targets", set<TargetKind>(
                      "targets", [](Options& o) -> TargetKind& { return o.episode.targets; },
                      {{"paper", TargetKind::kPaper}, {"exact", TargetKind::kExact}, {"bounds", TargetKind::kBounds}})},
      {"loss", set<Loss>("loss", [](Options& o) -> Loss& { return o.learner.loss; },
                         {{"squared", Loss::kSquared}, {"policy", Loss::kPolicy}})},
      {"iterations", set<int>([](Options& o) -> int& { return o.learner.iterations; })},
      {"bellman", set<double>([](Options& o) -> double& { return o.learner.bellman_weight; })},
      {"global_after", set<int>([](Options& o) -> int& { return o.learner.global_after; })},
      {"hidden", set<std::vector<int>>([](Options& o) -> auto& { return o.learner.hidden; })},
      {"budget", set<std::int64_t>([](Options& o) -> std::int64_t& { return o.episode.budget; })},
      {"samples", set<int>([](Options& o) -> int& { return o.episode.num_samples; })},
      {"c", set<double>([](Options& o) -> double& { return o.episode.c; })},
      {"epsilon", set<double>([](Options& o) -> double& { return o.episode.epsilon; })},
      {"ess", set<double>([](Options& o) -> double& { return o.episode.ess_threshold; })},
      {"replay", set<std::int64_t>([](Options& o) -> std::int64_t& { return o.replay_capacity; })},
      {"batch", set<int>([](Options& o) -> int& { return o.learner.batch_size; })},
      {"rate", set<double>([](Options& o) -> double& { return o.learner.adam.learning_rate; })},
      {"deterministic", set<bool>([](Options& o) -> bool& { return o.is_deterministic; })},
      {"steps_per_episode", set<int>([](Options& o) -> int& { return o.steps_per_episode; })},
      {"assess_every", set<int>([](Options& o) -> int& { return o.assess_every; })},
      {"plain_c", set<double>([](Options& o) -> double& { return o.plain_c; })},
      {"checkpoint_every", set<int>([](Options& o) -> int& { return o.checkpoint_every; })},
      {"seed", set<std::uint64_t>([](Options& o) -> std::uint64_t& { return o.seed; })},
      {"episodes", set<std::int64_t>([](Options& o) -> std::int64_t& { return o.num_episodes; })},
      {"workers", set<int>([](Options& o) -> int& { return o.num_workers; })},
      {"out", set<std::filesystem::path>([](Options& o) -> auto& { return o.folder; })},
      {"resume", set<bool>([](Options& o) -> bool& { return o.resume; })},
      {"evidence_variables",
       set<std::vector<std::string>>([](Options& o) -> auto& { return o.problems.evidence_variables; })},
  };
  return table;
}

TrainOptions options_of(const py::dict& keywords) {
  TrainOptions options;
  for (const auto& [name, value] : keywords) {
    const auto word = name.cast<std::string>();
    try {
      setters().at(word)(options, py::reinterpret_borrow<py::object>(value));
    } catch (const py::cast_error&) {
      throw OptionError(word, "is " + py::repr(value).cast<std::string>() + ", which is of the wrong kind");
    }
  }
  return options;
}

std::vector<std::string> option_names() {
  std::vector<std::string> names;
  for (const auto& [name, ignored] : setters()) names.push_back(name);
  return names;
}

// Workers call it from threads of their own. What it raises ends the run.
ModelGenerator generator_of(const py::function& function, const std::shared_ptr<Raised>& raised) {
  const std::shared_ptr<py::function> kept(new py::function(function), [](const py::function* pointer) {
    const py::gil_scoped_acquire interpreter;
    delete pointer;
  });
  return [kept, raised](std::uint64_t number) {
    const py::gil_scoped_acquire interpreter;
    try {
      return (*kept)(number).cast<FactorGraph>();
    } catch (py::error_already_set& error) {
      raised->stop(error.value());
      throw Error(ErrorCode::kInterrupted, "the generator ended the run");
    }
  };
}

template <class Number>
py::object or_none(const std::optional<Number>& number) {
  return number ? py::object(py::float_(*number)) : py::none();
}

py::dict as_dict(const EpisodeRecord& record) {
  py::dict row;
  row["episode"] = record.episode;
  row["steps"] = record.steps;
  row["loss"] = or_none(record.loss);
  row["delta_kl"] = or_none(record.measured.delta_kl);
  row["delta_kl_phi"] = or_none(record.measured.delta_kl_phi);
  row["delta_kl_plain"] = or_none(record.measured.delta_kl_plain);
  row["delta_kl_telescoped"] = or_none(record.measured.delta_kl_telescoped);
  row["bellman_residual"] = or_none(record.measured.bellman_residual);
  row["log_z"] = or_none(record.measured.log_z);
  return row;
}

// What was made, and what a signal or a callable raised, which ended it. The former is None where nothing was.
py::tuple run(const py::dict& keywords, const std::vector<FactorGraph>& models, const py::object& generator,
              const std::string& generator_name, const py::function& tell) {
  TrainOptions options = options_of(keywords);
  for (const FactorGraph& model : models) {
    options.problems.models.emplace_back(format_model(model, "model.json"), ".json");
  }
  if (models.size() == 1) {
    std::tie(options.problems.model_text, options.problems.model_format) = options.problems.models[0];
    options.problems.models.clear();
  }
  const auto raised = std::make_shared<Raised>();
  if (!generator.is_none()) {
    options.problems.generator = generator_of(generator.cast<py::function>(), raised);
    options.problems.generator_name = generator_name;
  }
  const TrainObserver observer = [&](const EpisodeRecord& record) {
    const py::gil_scoped_acquire interpreter;
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      tell(as_dict(record));
    } catch (py::error_already_set& error) {
      raised->stop(error.value());
    }
    return !raised->is_stopped();
  };
  py::dict made;
  try {
    const py::gil_scoped_release others_may_run;
    const TrainReport report = train(options, observer);
    const py::gil_scoped_acquire interpreter;
    made["episodes"] = report.num_episodes;
    made["steps"] = report.num_steps;
    made["is_finished"] = report.is_finished;
  } catch (const Error&) {
    py::object original = raised->take();
    if (original.is_none()) throw;
    return py::make_tuple(py::none(), original);
  }
  return py::make_tuple(made, raised->take());
}

}  // namespace

void bind_train(py::module_& module) {
  module.def("train_options", &option_names);
  module.def("train", &run);
}

}  // namespace treesample::python
