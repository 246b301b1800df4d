// Models that are programs.
#include "python_program.hpp"
#include "treesample/error.hpp"
#include "treesample/program/environments.hpp"
#include "treesample/program/environments/dag_edges.hpp"
#include "treesample/program/environments/permutations.hpp"
#include "treesample/program/environments/phylogeny.hpp"
#include "treesample/program/environments/sequence_tables.hpp"
#include "treesample/program/reward_journal.hpp"
#include "watcher.hpp"

namespace treesample::python {
namespace {

// What Python remembers of rewards: find(key) gives a number or None, add(key, value) keeps one.
class PythonMemory final : public RewardMemory {
 public:
  explicit PythonMemory(py::object memory) : memory_(std::move(memory)) {}
  [[nodiscard]] std::optional<double> find(const std::string& key) const override {
    const py::gil_scoped_acquire interpreter;
    const py::object found = memory_.attr("find")(key);
    if (found.is_none()) return {};
    return found.cast<double>();
  }
  void add(const std::string& key, double log_reward) override {
    const py::gil_scoped_acquire interpreter;
    memory_.attr("add")(key, log_reward);
  }
  void flush() override {
    const py::gil_scoped_acquire interpreter;
    memory_.attr("flush")();
  }

 private:
  py::object memory_;
};

// An answer and the program whose states it names.
struct Answered {
  std::shared_ptr<NamedProgram> program;
  ProgramAnswer answer;
};

ProgramMethod method_of(const std::string& name) {
  if (name == "exact") return ProgramMethod::kExact;
  if (name == "search") return ProgramMethod::kSearch;
  if (name == "tree") return ProgramMethod::kTree;
  if (name == "black-box") return ProgramMethod::kBlackBox;
  return ProgramMethod::kAuto;
}

ProgramOptions options_of(const py::dict& given) {
  ProgramOptions options;
  options.method = method_of(given["method"].cast<std::string>());
  options.samples = given["samples"].cast<int>();
  options.seed = given["seed"].cast<std::uint64_t>();
  options.batch = given["batch"].cast<int>();
  options.max_steps = given["max_steps"].cast<int>();
  options.most_states = given["most_states"].cast<std::int64_t>();
  options.c = given["c"].cast<double>();
  return options;
}

Limits limits_of(const py::dict& given) {
  Limits limits;
  if (!given["calls"].is_none()) limits.calls = given["calls"].cast<std::int64_t>();
  if (!given["time"].is_none()) limits.seconds = given["time"].cast<double>();
  if (!given["memory"].is_none()) limits.bytes = given["memory"].cast<std::size_t>();
  limits.gap = given["gap"].cast<double>();
  return limits;
}

// The answer, and what ended the run: Ctrl-C, or what a progress function raised; or None.
std::pair<std::shared_ptr<Answered>, py::object> run(const std::shared_ptr<NamedProgram>& program,
                                                     const py::dict& given, py::object progress,
                                                     const std::shared_ptr<Raised>& raised, py::object memory) {
  const ProgramOptions options = options_of(given);
  const Limits limits = limits_of(given);
  raised->forget();
  Watcher watcher(std::move(progress), raised);
  PythonMemory remembered(std::move(memory));
  auto answered = std::make_shared<Answered>();
  answered->program = program;
  {
    const py::gil_scoped_release others_may_run;
    answered->answer = infer_program(program->numbered(), options, limits, watcher.observer(), &remembered);
  }
  if (PyErr_CheckSignals() != 0) raised->stop(py::error_already_set().value());
  const bool is_stopped = raised->is_stopped();
  py::object error = raised->take();
  return {answered, is_stopped ? error : py::none()};
}

py::tuple path_of(const Answered& answered, const ProgramPath& path) {
  py::list states, actions;
  for (const StateId state : path.states) states.append(answered.program->state(state));
  for (std::size_t i = 0; i < path.actions.size(); ++i) {
    actions.append(answered.program->labels(path.states[i])[py::int_(path.actions[i])]);
  }
  return py::make_tuple(states, actions, path.log_weight, path.log_prob);
}

py::list paths_of(const Answered& answered, const std::vector<ProgramPath>& paths) {
  py::list list;
  for (const ProgramPath& path : paths) list.append(path_of(answered, path));
  return list;
}

const ProgramDistribution& distribution_of(const Answered& answered) {
  if (!answered.answer.distribution) throw Error(ErrorCode::kArgument, "program: no object is known that is possible");
  return *answered.answer.distribution;
}

py::list sample(const Answered& answered, int count, std::uint64_t seed) {
  std::vector<ProgramPath> paths;
  Random random(seed, "samples");
  for (int i = 0; i < count; ++i) paths.push_back(distribution_of(answered).sample(random));
  return paths_of(answered, paths);
}

py::list end_probabilities(const Answered& answered) {
  py::list list;
  if (!answered.answer.distribution) return list;
  answered.answer.distribution->for_each_end([&](StateId end, double probability) {
    if (probability > 0.0) list.append(py::make_tuple(answered.program->state(end), probability));
  });
  return list;
}

// visit(state, action, next state, probability)
void for_each_action(const Answered& answered, const py::function& visit) {
  std::optional<StateId> last;
  py::object labels;
  distribution_of(answered).for_each_action([&](StateId state, const Transition& t, double probability) {
    if (last != state) labels = answered.program->labels(state);
    last = state;
    visit(answered.program->state(state), labels[py::int_(t.action)], answered.program->state(t.next), probability);
  });
}

std::shared_ptr<NamedProgram> named(std::unique_ptr<NumberedProgram> program) {
  return std::make_shared<Environment>(std::move(program));
}

template <auto kMember>
auto field() {
  return [](const Answered& answered) { return answered.answer.*kMember; };
}

}  // namespace

void bind_program(py::module_& module) {
  py::class_<NamedProgram, std::shared_ptr<NamedProgram>>(module, "NamedProgram")
      .def("check", [](NamedProgram& program, int most_states, int most_rewards) {
        return check_program(program.numbered(), most_states, most_rewards);
      });
  py::class_<PythonProgram, NamedProgram, std::shared_ptr<PythonProgram>>(module, "NumberedProgram",
                                                                          py::multiple_inheritance())
      .def(py::init<py::dict, const std::string&, bool, std::shared_ptr<Raised>>());
  py::class_<Answered, std::shared_ptr<Answered>>(module, "ProgramAnswer")
      .def_property_readonly("lower", [](const Answered& a) { return a.answer.log_z.lower; })
      .def_property_readonly("upper", [](const Answered& a) { return a.answer.log_z.upper; })
      .def_property_readonly("interval",
                             [](const Answered& a) -> std::optional<std::pair<double, double>> {
                               if (!a.answer.interval) return std::nullopt;
                               return std::pair(a.answer.interval->lower, a.answer.interval->upper);
                             })
      .def_property_readonly("stop", [](const Answered& a) { return to_string(a.answer.stop); })
      .def_property_readonly("calls", [](const Answered& a) { return a.answer.spent.calls; })
      .def_property_readonly("seconds", [](const Answered& a) { return a.answer.seconds; })
      .def_property_readonly("estimate", field<&ProgramAnswer::estimate>())
      .def_property_readonly("confidence", field<&ProgramAnswer::confidence>())
      .def_property_readonly("is_exact", field<&ProgramAnswer::is_exact>())
      .def_property_readonly("method", field<&ProgramAnswer::method>())
      .def_property_readonly("num_states", field<&ProgramAnswer::num_states>())
      .def_property_readonly("num_ends", field<&ProgramAnswer::num_ends>())
      .def_property_readonly("num_rewards", field<&ProgramAnswer::num_rewards>())
      .def_property_readonly("is_best_optimal", field<&ProgramAnswer::is_best_optimal>())
      .def_property_readonly("remarks", field<&ProgramAnswer::remarks>())
      .def_property_readonly("best",
                             [](const Answered& a) -> py::object {
                               return a.answer.best ? py::object(path_of(a, *a.answer.best)) : py::none();
                             })
      .def_property_readonly("samples", [](const Answered& a) { return paths_of(a, a.answer.samples); })
      .def("sample", &sample)
      .def("end_probabilities", &end_probabilities)
      .def("for_each_action", &for_each_action);
  py::class_<RewardJournal>(module, "RewardJournal")
      .def(py::init<const std::string&, const std::string&>())
      .def("find", &RewardJournal::find)
      .def("add", &RewardJournal::add)
      .def("flush", &RewardJournal::flush)
      .def("all", &RewardJournal::all);
  module.def("environment", [](const std::string& name, const std::map<std::string, std::string>& values) {
    return named(make_environment(name, values));
  });
  module.def("dag_environment", [](const DagScores& scores, std::vector<std::string> labels) {
    return named(std::make_unique<HashedProgram<DagEdges>>(DagEdges(scores, std::move(labels))));
  });
  module.def("permutations_environment", [](Permutations::Scores at, Permutations::Scores after) {
    return named(std::make_unique<HashedProgram<Permutations>>(Permutations(std::move(at), std::move(after))));
  });
  module.def("phylogeny_environment", [](std::vector<std::string> sequences, double temperature) {
    return named(std::make_unique<HashedProgram<Phylogeny>>(Phylogeny(std::move(sequences), temperature)));
  });
  module.def("configurations_environment", [](const FactorGraph& graph) {
    return named(std::make_unique<HashedProgram<Sequences>>(configuration_sequences(graph)));
  });
  module.def("infer_program", &run, py::arg("program"), py::arg("given"), py::arg("progress"),
             py::arg("raised").none(false), py::arg("memory"));
}

}  // namespace treesample::python
