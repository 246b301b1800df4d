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
  ModelInput input;
  const bool is_json = std::filesystem::path(model_file).extension() == ".json";
  if (is_json) {
    const JsonModel model = naming(model_file, [&] { return read_json_model(model_file); });
    if (!model.programs.empty()) {
      require_consent(model, use);
      input.oracles = std::make_shared<OracleSet>(model, options);
      input.original = input.oracles->graph();
    }
  }
  if (!input.oracles) {
    const char* const message = "the model has no factors that are computed by programs";
    check_argument(options.journal.empty(), "--journal", message);
    check_argument(options.num_workers == 1, "--oracle-workers", message);
    check_argument(!options.retry_failed, "--retry-failed", message);
    input.original = naming(model_file, [&] { return read_model(model_file); });
  }
  input.evidence_file = evidence_file;
  std::error_code ignored;
  if (evidence_file.empty() && std::filesystem::exists(model_file + ".evid", ignored)) {
    input.evidence_file = model_file + ".evid";
  }
  if (!input.evidence_file.empty()) input.evidence = read_uai_evidence(input.evidence_file, input.original);
  input.model = naming(model_file, [&] { return condition(input.original, input.evidence); });
  input.model_file = model_file;
  return input;
}

void simplify_input(ModelInput& input, const ShouldStop& should_stop) {
  if (!input.original.has_only_tables()) return;
  SimplifiedModel simplified =
      naming(input.model_file, [&] { return simplify(input.original, input.evidence, should_stop); });
  if (!simplified.report.is_changed()) return;
  input.model = std::move(simplified.model);
  input.simplified = simplified.report;
}

OrderKind parse_order(const std::string& word) {
  if (word == "given") return OrderKind::kGiven;
  if (word == "degree") return OrderKind::kDegree;
  if (word == "min-fill") return OrderKind::kMinFill;
  if (word == "min-width") return OrderKind::kMinWidth;
  throw_argument("--order", fmt::format("'{}' is none of given, degree, min-fill, min-width", word));
}

SpaceKind parse_space(const std::string& word) {
  if (word == "tree") return SpaceKind::kTree;
  if (word == "graph") return SpaceKind::kGraph;
  if (word == "andor") return SpaceKind::kAndOr;
  throw_argument("--space", fmt::format("'{}' is none of tree, graph, andor", word));
}

}  // namespace treesample::cli
