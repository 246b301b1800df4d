#include "model_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "terminal.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/uai.hpp"
#include "treesample/model/names.hpp"
#include "treesample/parse_number.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {

void declare_evidence(CommandLine& line, std::vector<std::string>& evidence) {
  line.option("--evidence", evidence, "NAME=STATE|FILE",
              "What was observed: a state, weights of the states (NAME~0.8,0.2), or a file; may be repeated. Default: "
              "the file beside the model, grid.uai.evid or grid.evid beside grid.uai");
}

void add_fields(std::map<std::string, double>& fields, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    std::optional<double> value;
    if (equals != std::string::npos) value = parse_real(std::string_view(setting).substr(equals + 1));
    check_argument(value.has_value(), "--set", fmt::format("'{}' is not NAME=NUMBER", setting));
    fields[setting.substr(0, equals)] = *value;
  }
}

std::size_t memory_of(const std::string& text, std::size_t otherwise) {
  if (text.empty()) return otherwise;
  const auto bytes = parse_size(text);
  if (bytes) return *bytes;
  constexpr const char* kAllowed = "allowed is a number of bytes with an optional K, M, G or T, such as 4G";
  throw OptionError("memory", fmt::format("is '{}', {}", printable(text), kAllowed));
}

UnpackLimits unpack_limits(std::size_t bytes, ShouldStop should_stop) {
  constexpr std::int64_t kSmallText = std::int64_t{1} << 25;
  const auto half = static_cast<std::int64_t>(bytes / 2);
  return {.bytes = std::clamp(half, kSmallText, kMaxFileBytes), .should_stop = std::move(should_stop)};
}

InputOptions input_options(const std::string& model_file, const std::vector<std::string>& evidence,
                           const ProgramUse& use, const OracleOptions& programs, const UnpackLimits& unpack) {
  return {.evidence = evidence,
          .text = model_text(model_file, unpack),
          .open_programs = [use, programs](const JsonModel& model) {
            check_distinct(program_roles(model), use.written);
            require_consent(model, use);
            return std::make_shared<OracleSet>(model, programs);
          }};
}

void check_input(const ModelInput& input, const OracleOptions& programs, bool is_quiet) {
  if (!input.model.programs) {
    const char* const message = "the model has no factors that are computed by programs";
    check_argument(programs.journal.empty(), "--journal", message);
    check_argument(!programs.redis, "--redis", message);
    check_argument(programs.num_workers == 1, "--oracle-workers", message);
    check_argument(!programs.retry_failed, "--retry-failed", message);
  }
  for (const std::string& warning : input.warnings) {
    note(is_quiet, fmt::format("warning: {}: {}", printable(input.model_file), warning));
  }
}

void take_query(std::vector<std::string>& map, const std::string& model_file, const FactorGraph& graph, bool is_quiet) {
  const auto is_query = [](const std::filesystem::path& path) {
    return path.extension() == ".query" && std::filesystem::is_regular_file(path);
  };
  if (map.size() == 1 && is_query(map.front())) {
    std::vector<std::string> names;
    for (const int v : read_uai_query(map.front(), graph)) names.push_back(variable_name(graph, v));
    check_argument(!names.empty(), "--map", fmt::format("{} asks for no variable", map.front()));
    map = std::move(names);
    return;
  }
  if (!map.empty()) return;
  for (const std::filesystem::path& beside :
       {std::filesystem::path(model_file + ".query"), std::filesystem::path(model_file).replace_extension(".query")}) {
    if (is_query(beside)) return note(is_quiet, fmt::format("--map {} asks what that file asks", beside.string()));
  }
}

}  // namespace treesample::cli
