#include "treesample/infer/model_input.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "treesample/count/circuit.hpp"
#include "treesample/error.hpp"
#include "treesample/io/evidence_file.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

// A function that refuses a model names itself in its error; here the message names the file, which the user knows.
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
    throw Error(ErrorCode::kResource, fmt::format("{}: there is not enough memory for it (--memory)", printable(file)));
  }
}

constexpr std::string_view kCircuit = ".circuit";

// In small letters.
std::string extension_of(const std::string& file, const InputOptions& options) {
  std::string extension = options.text ? options.text->extension : std::filesystem::path(file).extension().string();
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return extension;
}

ModelInput of_tables(const std::string& file, const std::optional<ModelText>& text) {
  ModelFile read = naming(
      file, [&] { return text ? parse_model_file(text->contents, text->extension, file) : read_model_file(file); });
  return {.model = Model(std::move(read.graph)), .model_file = file, .warnings = std::move(read.warnings)};
}

ModelInput of_programs(const std::string& file, const JsonModel& described, const InputOptions& options) {
  if (!options.open_programs) {
    throw Error(ErrorCode::kArgument, fmt::format("{}: the model runs programs, and nobody allowed it", file));
  }
  return {.model = Model(options.open_programs(described)), .model_file = file};
}

// Adds a file, or an observation in words.
void add_evidence(ModelInput& input, const std::string& given) {
  const Names names(input.model.graph);
  std::error_code ignored;
  const bool is_file = std::filesystem::exists(given, ignored);
  Observations known{input.model.evidence, input.model.soft_evidence};
  if (is_file) {
    observe(known, names, read_evidence(given, names));
    if (input.evidence_file.empty()) input.evidence_file = given;
  } else if (is_observation_text(given)) {
    try {
      observe(known, names, given);
    } catch (const Error& error) {
      throw OptionError("evidence", error.what());
    }
  } else {
    throw Error(ErrorCode::kIo, fmt::format("{}: cannot be read: No such file, and no observation such as NAME=STATE "
                                            "(--evidence)",
                                            shortened(given, 100)));
  }
  input.model.evidence = std::move(known.states);
  input.model.soft_evidence = std::move(known.soft);
}

// Without evidence.
ModelInput read_alone(const std::string& file, const InputOptions& options) {
  const std::optional<ModelText>& text = options.text;
  const std::string extension = extension_of(file, options);
  if (extension == kCircuit) {
    auto circuit = naming(file, [&] {
      return std::make_shared<const Circuit>(text ? parse_circuit(text->contents, file) : read_circuit(file));
    });
    return {.model = Model(std::move(circuit)), .model_file = file};
  }
  if (!is_model_extension(extension)) refuse_extension(file, fmt::format(", {}", kCircuit));
  if (extension != ".json") return of_tables(file, text);
  const JsonModel described =
      naming(file, [&] { return text ? parse_json_model(text->contents, file) : read_json_model(file); });
  if (!described.programs.empty()) return of_programs(file, described, options);
  return {.model = Model(naming(file, [&] { return table_model(described); })), .model_file = file};
}

bool has_equal_variables(const FactorGraph& a, const FactorGraph& b) {
  bool is_equal = a.num_variables() == b.num_variables();
  for (int v = 0; v < a.num_variables() && is_equal; ++v) is_equal = a.num_states(v) == b.num_states(v);
  return is_equal;
}

void multiply(Model& model, const std::string& weights_file) {
  const FactorGraph graph = read_model(weights_file);
  if (!has_equal_variables(graph, model.graph)) {
    throw OptionError("weights", "the variables are not those of the model");
  }
  const std::vector<StateWeights> tables = state_weights(graph);
  if (model.circuit) {
    Circuit circuit = *model.circuit;
    for (const StateWeights& weights : tables) circuit = circuit.with(weights);
    Model weighted(std::make_shared<const Circuit>(std::move(circuit)), std::move(model.evidence));
    weighted.soft_evidence = std::move(model.soft_evidence);
    model = std::move(weighted);
  } else {
    for (const Factor& factor : graph.factors()) model.graph.add_factor(factor);
  }
}

// The file of evidence that lies beside a model: grid.uai.evid or, as some tools name it, grid.evid. Empty if there is
// none.
std::string evidence_beside(const std::string& model_file) {
  for (const std::string& file :
       {model_file + ".evid", std::filesystem::path(model_file).replace_extension(".evid").string()}) {
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) return file;
  }
  return "";
}

}  // namespace

std::string ModelInput::evidence_text() const {
  return observations_text(model.graph, {model.evidence, model.soft_evidence});
}

ReducedModel ModelInput::conditioned() const {
  return naming(model_file,
                [&] { return condition(with_soft_evidence(model.graph, model.soft_evidence), model.evidence); });
}

ModelInput read_input(const std::string& model_file, const InputOptions& options) {
  ModelInput input = read_alone(model_file, options);
  if (const std::string beside = evidence_beside(model_file); options.evidence.empty() && !beside.empty()) {
    add_evidence(input, beside);
  }
  for (const std::string& given : options.evidence) add_evidence(input, given);
  if (options.weights_file.empty()) return input;
  if (input.model.programs) throw OptionError("weights", "the model has factors that are computed by programs");
  naming(options.weights_file, [&] { multiply(input.model, options.weights_file); });
  return input;
}

}  // namespace treesample
