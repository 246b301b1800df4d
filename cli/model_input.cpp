#include "model_input.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "model_text.hpp"
#include "terminal.hpp"
#include "treesample/error.hpp"
#include "treesample/io/evidence_file.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

// A library function that refuses a model names itself in its error; here the message names the file, which the user
// knows.
template <class Work>
auto naming(const std::string& file, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    const std::string name = printable(file);
    if (std::string_view(error.what()).starts_with(name)) throw;
    const ErrorCode code = error.code() == ErrorCode::kArgument ? ErrorCode::kParse : error.code();
    throw Error(code, fmt::format("{}: {}", name, error.what()));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kResource, fmt::format("{}: there is not enough memory for it", printable(file)));
  }
}

bool has_equal_variables(const FactorGraph& a, const FactorGraph& b) {
  bool is_equal = a.num_variables() == b.num_variables();
  for (int v = 0; v < a.num_variables() && is_equal; ++v) is_equal = a.num_states(v) == b.num_states(v);
  return is_equal;
}

// Adds a file, or an observation in words.
void add_evidence(ModelInput& input, const std::string& given) {
  const Names names(input.model.graph);
  std::error_code ignored;
  const bool is_file = std::filesystem::exists(given, ignored);
  Observations known{input.model.evidence, input.model.soft_evidence};
  if (is_file || !is_observation_text(given)) {
    if (!is_file) {
      throw Error(ErrorCode::kIo, fmt::format("{}: cannot be read: No such file, and no observation such as NAME=STATE "
                                              "(--evidence)",
                                              shortened(given, 100)));
    }
    observe(known, names, read_evidence(given, names));
    if (input.evidence_file.empty()) input.evidence_file = given;
  } else {
    try {
      observe(known, names, given);
    } catch (const Error& error) {
      throw OptionError("evidence", error.what());
    }
  }
  input.model.evidence = std::move(known.states);
  input.model.soft_evidence = std::move(known.soft);
}

}  // namespace

std::string ModelInput::evidence_text() const {
  return observations_text(model.graph, {model.evidence, model.soft_evidence});
}

void declare_evidence(CommandLine& line, std::vector<std::string>& evidence) {
  line.option("--evidence", evidence, "NAME=STATE|FILE",
              "What was observed: a state, weights of the states (NAME~0.8,0.2), or a file; may be repeated. Default: "
              "MODEL.evid when it exists");
}

ModelInput read_input(const std::string& model_file, const std::vector<std::string>& evidence,
                      const OracleOptions& options, const ProgramUse& use) {
  std::shared_ptr<OracleSet> programs;
  const std::optional<ModelText> text = naming(model_file, [&] { return model_text(model_file); });
  const std::string extension = text ? text->extension : std::filesystem::path(model_file).extension().string();
  if (extension == ".json") {
    const JsonModel model = naming(
        model_file, [&] { return text ? parse_json_model(text->contents, model_file) : read_json_model(model_file); });
    if (!model.programs.empty()) {
      require_consent(model, use);
      programs = std::make_shared<OracleSet>(model, options);
    }
  }
  if (!programs) {
    const char* const message = "the model has no factors that are computed by programs";
    check_argument(options.journal.empty(), "--journal", message);
    check_argument(!options.redis, "--redis", message);
    check_argument(options.num_workers == 1, "--oracle-workers", message);
    check_argument(!options.retry_failed, "--retry-failed", message);
  }
  ModelFile file;
  std::shared_ptr<const Circuit> circuit;
  if (extension == ".circuit") {
    circuit = naming(model_file, [&] { return std::make_shared<const Circuit>(read_circuit(model_file)); });
  } else if (!programs) {
    file = naming(model_file, [&] {
      return text ? parse_model_file(text->contents, text->extension, model_file) : read_model_file(model_file);
    });
  }
  ModelInput input{programs  ? Model(programs)
                   : circuit ? Model(circuit)
                             : Model(std::move(file.graph)),
                   model_file, ""};
  for (const std::string& warning : file.warnings) {
    note(use.is_quiet, fmt::format("warning: {}: {}", printable(model_file), warning));
  }
  std::error_code ignored;
  if (evidence.empty() && std::filesystem::exists(model_file + ".evid", ignored)) {
    add_evidence(input, model_file + ".evid");
  }
  for (const std::string& given : evidence) add_evidence(input, given);
  return input;
}

void multiply(ModelInput& input, const std::string& weights_file) {
  Model& model = input.model;
  check_argument(!model.programs, "--weights", "the model has factors that are computed by programs");
  naming(weights_file, [&] {
    const FactorGraph graph = read_model(weights_file);
    check_argument(has_equal_variables(graph, model.graph), "--weights", "the variables are not those of the model");
    const StateWeights weights = state_weights(graph);
    if (model.circuit) {
      Model weighted(std::make_shared<const Circuit>(model.circuit->with(weights)), std::move(model.evidence));
      weighted.soft_evidence = std::move(model.soft_evidence);
      model = std::move(weighted);
    } else {
      for (const Factor& factor : graph.factors()) model.graph.add_factor(factor);
    }
    return true;
  });
}

ReducedModel conditioned(const ModelInput& input) {
  return naming(input.model_file, [&] {
    return condition(with_soft_evidence(input.model.graph, input.model.soft_evidence), input.model.evidence);
  });
}

}  // namespace treesample::cli
