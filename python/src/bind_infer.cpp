// infer: the same call as everywhere, with keywords from the table of options.
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "bindings.hpp"
#include "interruptible.hpp"
#include "python_executor.hpp"
#include "python_value.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/slice_sum.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/io/json_model.hpp"
#include "treesample/math/random.hpp"
#include "treesample/oracle/journal.hpp"
#include "treesample/oracle/oracle_set.hpp"
#include "treesample/page/answer_json.hpp"
#include "treesample/page/answer_page.hpp"
#include "watcher.hpp"

namespace treesample::python {
namespace {

using Keywords = std::vector<std::pair<std::string, std::string>>;  // name, with dashes, and text

// What was observed: pairs of variable and state, and of variable and weights of its states.
struct Seen {
  std::vector<std::pair<int, int>> states;
  std::vector<std::pair<int, std::vector<double>>> weights;
};

Model with_evidence(Model model, const Seen& seen) {
  Observations observed;
  for (const auto& [variable, state] : seen.states) {
    check_range("evidence", "variable", variable, 0, model.graph.num_variables() - 1);
    check_range("evidence", "state", state, 0, model.graph.num_states(variable) - 1);
    observed.states.push_back({variable, state});
  }
  for (const auto& [variable, weights] : seen.weights) observed.soft.push_back({variable, weights});
  model.observe(observed);
  return model;
}

// Workers that run a Python function have to end before their set does, and need the interpreter for it.
std::shared_ptr<Model> kept(Model model) {
  return {new Model(std::move(model)), [](const Model* pointer) {
            const py::gil_scoped_release others_may_run;
            delete pointer;
          }};
}

std::shared_ptr<Model> tables_and_functions(const FactorGraph& graph, const Seen& seen) {
  return kept(with_evidence(Model(graph), seen));
}

// Functions that are paid for: never twice, by several workers, with a journal.
std::shared_ptr<Model> paid_functions(const FactorGraph& graph, const Seen& seen, const std::string& version,
                                      const OracleOptions& options) {
  return kept(with_evidence(Model(std::make_shared<OracleSet>(graph, version, options)), seen));
}

std::shared_ptr<Model> programs_of(const std::filesystem::path& path, const Seen& seen, OracleOptions options) {
  return interruptible(options, [&] {
    auto programs = std::make_shared<OracleSet>(read_json_model(path), options);
    programs->set_should_stop({});
    return kept(with_evidence(Model(std::move(programs)), seen));
  });
}

// "stop", "impossible", "skip", or a number.
FailureRule rule_of(const py::object& rule) {
  using Kind = FailureRule::Kind;
  if (!py::isinstance<py::str>(rule)) return {Kind::kValue, rule.cast<double>()};
  const auto word = rule.cast<std::string>();
  return {word == "stop" ? Kind::kStop : word == "skip" ? Kind::kSkip : Kind::kImpossible};
}

using Names = std::vector<std::string>;

// Names may hold commas and quotes: they do not go through text.
InferRequest request_of(const Keywords& keywords, const std::vector<Names>& query, const Names& map) {
  InferRequest request;
  request.question.query = query;
  request.question.map = map;
  for (const auto& [name, text] : keywords) set_option(request, name, text);
  return request;
}

// A value function, where there is one: (function, list of what it is to be told of each variable), or None.
class GivenLeaf {
 public:
  GivenLeaf(const py::object& leaf, const FactorGraph& graph, const std::shared_ptr<Raised>& raised) {
    if (leaf.is_none()) return;
    const auto pair = leaf.cast<std::pair<py::function, py::list>>();
    value_ = PythonValue::make(pair.first, pair.second, graph);
    value_->set_raised(raised);
  }
  // An answer may go on to ask it.
  ~GivenLeaf() {
    if (value_) value_->set_raised(nullptr);
  }
  GivenLeaf(const GivenLeaf&) = delete;
  GivenLeaf& operator=(const GivenLeaf&) = delete;
  [[nodiscard]] ValueFunction function() const { return value_ ? PythonValue::as_function(value_) : ValueFunction(); }

 private:
  std::shared_ptr<PythonValue> value_;
};

// Ctrl-C in the last moment: what there is would be lost on its way.
void look_for_signals(Raised& raised) {
  if (PyErr_CheckSignals() != 0) raised.stop(py::error_already_set().value());
}

// The answer and, where a signal or a callable ended the run, what that raised. The answer is null when the run ended
// before there was one.
std::pair<std::shared_ptr<Answer>, py::object> run(const std::shared_ptr<Model>& model, const Keywords& keywords,
                                                   const std::vector<Names>& query, const Names& map,
                                                   py::object progress, const py::object& leaf,
                                                   const std::shared_ptr<Raised>& raised,
                                                   const std::shared_ptr<PythonExecutor>& executor) {
  InferRequest request = request_of(keywords, query, map);
  raised->forget();
  Watcher watcher(std::move(progress), raised);
  const GivenLeaf value(leaf, model->graph, raised);
  request.options.value_function = value.function();
  request.options.executor = executor;
  std::shared_ptr<Answer> answer;
  try {
    const py::gil_scoped_release others_may_run;
    answer =
        std::make_shared<Answer>(infer(*model, request.question, request.limits, request.options, watcher.observer()));
  } catch (const Error& error) {
    look_for_signals(*raised);
    py::object original = raised->take();
    if (original.is_none()) throw;
    return {nullptr, original};
  } catch (...) {
    raised->forget();
    throw;
  }
  look_for_signals(*raised);
  const bool has_ended = raised->is_stopped() || answer->error;
  py::object error = raised->take();
  return {answer, has_ended ? error : py::none()};
}

std::string plan_text(const Model& model, const Keywords& keywords) {
  const InferRequest request = request_of(keywords, {}, {});
  const py::gil_scoped_release others_may_run;
  return plan(model, request.question, request.limits, request.options).text();
}

py::array_t<std::int32_t> array_of(const std::vector<Assignment>& samples, int num_variables) {
  std::vector<std::int32_t> states;
  states.reserve(samples.size() * static_cast<std::size_t>(num_variables));
  for (const Assignment& x : samples) states.insert(states.end(), x.begin(), x.end());
  return to_array(std::move(states), {static_cast<py::ssize_t>(samples.size()), num_variables});
}

// An answer and the model that it is about. Only names, scopes and tables of the model are shown: no function of it is
// called.
struct ShownAnswer {
  std::shared_ptr<const Answer> answer;
  Model model;
  AnswerSource source;

  [[nodiscard]] int num_variables() const { return model.graph.num_variables(); }
  [[nodiscard]] const Approximation& sampler() const {
    if (answer->approximation) return *answer->approximation;
    throw Error(ErrorCode::kArgument,
                "this answer has nothing to draw from: ask for samples in the call (samples=N), or the model is "
                "impossible");
  }
};

py::array_t<std::int32_t> draw(const ShownAnswer& shown, std::int64_t count, std::uint64_t seed) {
  check_range("sample", "count", count, 0, std::numeric_limits<std::int32_t>::max());
  const Approximation& sampler = shown.sampler();
  std::vector<std::int32_t> states;  // all rows, which the array then owns
  {
    const py::gil_scoped_release others_may_run;
    Random random(seed, "samples");
    states.reserve(static_cast<std::size_t>(count) * static_cast<std::size_t>(shown.num_variables()));
    for (std::int64_t i = 0; i < count; ++i) {
      const Assignment x = sampler.sample(random);
      states.insert(states.end(), x.begin(), x.end());
    }
  }
  return to_array(std::move(states), {static_cast<py::ssize_t>(count), shown.num_variables()});
}

py::array_t<double> log_probs(const ShownAnswer& shown, const States& states) {
  const Approximation& sampler = shown.sampler();
  std::vector<double> values;
  const Rows rows(states, shown.num_variables());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    shown.model.graph.check_assignment(rows[r], "log_prob");
    values.push_back(sampler.log_prob(rows[r]));
  }
  const auto count = static_cast<py::ssize_t>(values.size());
  return to_array(std::move(values), {count});
}

std::optional<py::array_t<double>> numbers_of(const std::vector<double>& numbers) {
  if (numbers.empty()) return std::nullopt;
  return to_array(std::vector<double>(numbers), {static_cast<py::ssize_t>(numbers.size())});
}

void bind_answer(py::module_& module) {
  py::class_<Answer, std::shared_ptr<Answer>>(module, "Answer")
      .def_property_readonly("error", [](const Answer& answer) -> std::optional<std::string> {
        if (!answer.error) return std::nullopt;
        return std::string(answer.error->what());
      });
  py::class_<ShownAnswer>(module, "Shown")
      .def(py::init([](const std::shared_ptr<Answer>& answer, const FactorGraph& graph, const Seen& seen,
                       const std::string& name) {
             return ShownAnswer{answer, with_evidence(Model(graph), seen), {name}};
           }),
           py::arg("answer").none(false), py::arg("graph"), py::arg("seen"), py::arg("name"))
      .def("result",
           [](const ShownAnswer& shown, const std::string& name) {
             return result_json(*shown.answer, shown.model, shown.source, name);
           })
      .def("json", [](const ShownAnswer& shown) { return answer_json(*shown.answer, shown.model, shown.source); })
      .def("text", [](const ShownAnswer& shown) { return answer_text(*shown.answer, shown.model, shown.source); })
      .def("page", [](const ShownAnswer& shown) { return answer_page(*shown.answer, shown.model, shown.source); })
      .def("plan", [](const ShownAnswer& shown) { return shown.answer->plan.text(); })
      .def("samples", [](const ShownAnswer& shown) { return array_of(shown.answer->samples, shown.num_variables()); })
      .def("sample_log_probs", [](const ShownAnswer& shown) { return numbers_of(shown.answer->sample_log_probs); })
      .def("sample_log_densities",
           [](const ShownAnswer& shown) { return numbers_of(shown.answer->sample_log_densities); })
      .def("draw", &draw)
      .def("log_probs", &log_probs);
}

}  // namespace

void bind_infer(py::module_& module) {
  bind_answer(module);
  py::class_<OracleOptions>(module, "OracleOptions")
      .def(py::init([](int workers, const std::filesystem::path& journal, const std::filesystem::path& log,
                       bool retry_failed, const std::map<int, py::object>& on_failure,
                       const std::map<int, double>& max_failure_share, const std::map<int, std::string>& names,
                       const std::optional<RedisOptions>& redis, const std::shared_ptr<PythonExecutor>& executor) {
        OracleOptions options{.num_workers = workers, .journal = journal, .log = log, .retry_failed = retry_failed};
        for (const auto& [factor, rule] : on_failure) options.on_failure[factor] = rule_of(rule);
        options.max_failure_share = max_failure_share;
        options.names = names;
        options.redis = redis;
        options.executor = executor;
        return options;
      }))
      // The program is the only one of a model in JSON.
      .def("add_server", [](OracleOptions& options, int factor, const std::string& model) {
        options.servers[factor] = parse_json_model(model, "umbridge").programs.at(0);
      });
  py::class_<RedisOptions>(module, "RedisOptions")
      .def(py::init<>())
      .def_readwrite("address", &RedisOptions::address)
      .def_readwrite("run", &RedisOptions::run)
      .def_readwrite("password_file", &RedisOptions::password_file)
      .def_readwrite("key_file", &RedisOptions::key_file)
      .def_readwrite("insecure", &RedisOptions::allow_no_secret)
      .def_readwrite("tls_ca", &RedisOptions::tls_ca_file)
      .def_readwrite("tls_cert", &RedisOptions::tls_cert_file)
      .def_readwrite("tls_key", &RedisOptions::tls_key_file)
      .def_readwrite("patience", &RedisOptions::patience_seconds);
  py::class_<Seen>(module, "Seen")
      .def(py::init(
          [](std::vector<std::pair<int, int>> states, std::vector<std::pair<int, std::vector<double>>> weights) {
            return Seen{std::move(states), std::move(weights)};
          }));
  py::class_<Model, std::shared_ptr<Model>>(module, "Problem");
  py::class_<Raised, std::shared_ptr<Raised>>(module, "Raised").def(py::init<>());
  module.def("tables_and_functions", &tables_and_functions);
  module.def("paid_functions", &paid_functions);
  module.def("programs_of", &programs_of);
  module.def("journal_summary", [](const std::filesystem::path& path) {
    const JournalSummary summary = journal_summary(path);
    py::list factors;
    for (const JournalSummary::Factor& factor : summary.factors) {
      factors.append(py::make_tuple(factor.name, factor.scope, factor.num_evaluations, factor.seconds,
                                    factor.num_failures, factor.last_failure));
    }
    return py::make_tuple(summary.model, summary.created, factors, summary.damaged);
  });
  module.def("infer", &run, py::arg("problem").none(false), py::arg("keywords"), py::arg("query"), py::arg("map"),
             py::arg("progress"), py::arg("leaf"), py::arg("raised").none(false), py::arg("executor"));
  module.def("do_task",
             [](const std::string& shared, const std::string& kind, const std::vector<std::int64_t>& arguments) {
               std::vector<double> values;
               {
                 const py::gil_scoped_release others_may_run;
                 values = do_slice_task(shared, kind, arguments);
               }
               const auto count = static_cast<py::ssize_t>(values.size());
               return to_array(std::move(values), {count});
             });
  // Throws unless a UM-Bridge server is described as a model file would.
  module.def("check_server", [](const std::string& model) { parse_json_model(model, "umbridge"); });
  module.def("plan", &plan_text);
  module.def("results", [] {
    py::list list;
    for (const ResultInfo& result : answer_results()) {
      list.append(py::make_tuple(result.name, result.python_type, result.help));
    }
    return list;
  });
  module.def("options", [] {
    py::list list;
    for (const OptionInfo& option : infer_options()) {
      list.append(py::make_tuple(option.name, option.help, option.meta, option.initial, option.is_common));
    }
    return list;
  });
}

}  // namespace treesample::python
