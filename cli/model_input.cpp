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
  ModelInput input{programs ? Model(programs) : naming(model_file, [&] { return Model(read_model(model_file)); }),
                   model_file, evidence_file};
  std::error_code ignored;
  if (evidence_file.empty() && std::filesystem::exists(model_file + ".evid", ignored)) {
    input.evidence_file = model_file + ".evid";
  }
  if (!input.evidence_file.empty()) input.model.evidence = read_uai_evidence(input.evidence_file, input.model.graph);
  return input;
}

ReducedModel conditioned(const ModelInput& input) {
  return naming(input.model_file, [&] { return condition(input.model.graph, input.model.evidence); });
}

}  // namespace treesample::cli
