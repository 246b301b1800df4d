#include "treesample/io/decision_file.hpp"

#include <fmt/format.h>

#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/io/xmlbif.hpp"
#include "xdsl.hpp"

namespace treesample {

DecisionModel parse_decisions(std::string_view text, std::string_view extension, std::string_view source_name) {
  const bool is_xmlbif = extension == ".xmlbif" || extension == ".xml";
  if (!is_xmlbif && extension != ".xdsl") {
    throw Error(ErrorCode::kArgument, fmt::format("{}: decisions are read from .xmlbif, .xml and .xdsl files, not {}",
                                                  source_name, extension.empty() ? "this one" : extension));
  }
  DecisionModel model = is_xmlbif ? parse_xmlbif_decisions(text, source_name) : parse_xdsl_decisions(text, source_name);
  if (model.decisions.empty()) {
    throw Error(ErrorCode::kArgument, fmt::format("{}: there is no decision in this file", source_name));
  }
  return model;
}

DecisionModel read_decisions(const std::filesystem::path& path) {
  return parse_decisions(read_file(path), model_format(path), path.string());
}

}  // namespace treesample
