#include "model_input.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/io/uai.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

// A function of the library that refuses what a model holds names itself; a user knows the file.
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
    throw Error(ErrorCode::kResource, fmt::format("{}: the memory is not enough for it", printable(file)));
  }
}

Model read_without_programs(const std::string& model_file) {
  if (std::filesystem::path(model_file).extension() != ".circuit") return Model(read_model(model_file));
  return Model(std::make_shared<const Circuit>(read_circuit(model_file)));
}

bool has_equal_variables(const FactorGraph& a, const FactorGraph& b) {
  bool is_equal = a.num_variables() == b.num_variables();
  for (int v = 0; v < a.num_variables() && is_equal; ++v) is_equal = a.num_states(v) == b.num_states(v);
  return is_equal;
}

}  // namespace

ModelInput read_input(const std::string& model_file, const std::string& evidence_file, const OracleOptions& options,
                      const ProgramUse& use) {
  std::shared_ptr<OracleSet> programs;
  if (std::filesystem::path(model_file).extension() == ".json") {
    const JsonModel model = naming(model_file, [&] { return read_json_model(model_file); });
    if (!model.programs.empty()) {
      require_consent(model, use);
      programs = std::make_shared<OracleSet>(model, options);
    }
  }
  if (!programs) {
    const char* const message = "the model has no factors that are computed by programs";
    check_argument(options.journal.empty(), "--journal", message);
    check_argument(options.num_workers == 1, "--oracle-workers", message);
    check_argument(!options.retry_failed, "--retry-failed", message);
  }
  ModelInput input{programs ? Model(programs) : naming(model_file, [&] { return read_without_programs(model_file); }),
                   model_file, evidence_file};
  std::error_code ignored;
  if (evidence_file.empty() && std::filesystem::exists(model_file + ".evid", ignored)) {
    input.evidence_file = model_file + ".evid";
  }
  if (!input.evidence_file.empty()) input.model.evidence = read_uai_evidence(input.evidence_file, input.model.graph);
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
      model = Model(std::make_shared<const Circuit>(model.circuit->with(weights)), std::move(model.evidence));
    } else {
      for (const Factor& factor : graph.factors()) model.graph.add_factor(factor);
    }
    return true;
  });
}

ReducedModel conditioned(const ModelInput& input) {
  return naming(input.model_file, [&] { return condition(input.model.graph, input.model.evidence); });
}

}  // namespace treesample::cli
