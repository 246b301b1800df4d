#include "treesample/io/model_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "cfn.hpp"
#include "dsc.hpp"
#include "hugin_net.hpp"
#include "libdai_fg.hpp"
#include "treesample/error.hpp"
#include "treesample/io/bif.hpp"
#include "treesample/io/dimacs.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/json_model.hpp"
#include "treesample/io/uai.hpp"
#include "treesample/io/xmlbif.hpp"
#include "treesample/model/network.hpp"
#include "wcnf.hpp"
#include "wcsp.hpp"
#include "xdsl.hpp"

namespace treesample {
namespace {

std::string format_json_tables(const FactorGraph& graph) { return format_json_model(describe_tables(graph, "model")); }

std::string format_uai_kind(const FactorGraph& graph) {
  return format_uai(graph, check_network(graph).is_network() ? UaiKind::kBayes : UaiKind::kMarkov);
}

std::string refuse_wcnf(const FactorGraph&) {
  throw Error(ErrorCode::kArgument, "models are read from .wcnf files, and not written to them: .cfn has all costs");
}

// A line that begins with `p cnf`, after comments alone.
bool is_dimacs(std::string_view text) {
  while (text.starts_with("c ") || text.starts_with("c\t") || text.starts_with("c\n") || text.starts_with("c\r")) {
    text.remove_prefix(std::min(text.find('\n'), text.size()));
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  }
  return text.starts_with("p cnf") || text.starts_with("p\tcnf");
}

// Its first field has this name, with or without quotes; models in JSON have no such field.
bool is_cfn(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of("{ \t\r\n\""), text.size()));
  return text.starts_with("problem");
}

bool always(std::string_view) { return true; }
bool never(std::string_view) { return false; }

struct Format {
  std::string_view extension;
  FactorGraph (*parse)(std::string_view text, std::string_view source_name);
  std::string (*format)(const FactorGraph& graph);
  bool (*is_network)(std::string_view text);
  std::int64_t max_bytes = kMaxFileBytes;
};
constexpr Format kFormats[] = {{".uai", parse_uai, format_uai_kind, is_uai_network},
                               {".bif", parse_bif, format_bif, always},
                               {".xmlbif", parse_xmlbif, format_xmlbif, always},
                               {".xml", parse_xmlbif, format_xmlbif, always},
                               {".xdsl", parse_xdsl, format_xdsl, always},
                               {".net", parse_hugin_net, format_hugin_net, always},
                               {".dsc", parse_dsc, format_dsc, always},
                               {".fg", parse_libdai_fg, format_libdai_fg, never},
                               {".cnf", parse_dimacs, format_dimacs, never},
                               {".wcsp", parse_wcsp, format_wcsp, never},
                               {".cfn", parse_cfn, format_cfn, never},
                               {".wcnf", parse_wcnf, refuse_wcnf, never},
                               {".json", parse_json_tables, format_json_tables, never, kMaxJsonModelBytes}};

std::string all_extensions() {
  std::string all;
  for (const Format& format : kFormats) all += fmt::format("{}{}", all.empty() ? "" : ", ", format.extension);
  return all;
}

// Null if there is none.
const Format* find_format(std::string_view written) {
  std::string extension(written);
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const auto* const found = std::find_if(std::begin(kFormats), std::end(kFormats),
                                         [&](const Format& format) { return extension == format.extension; });
  return found == std::end(kFormats) ? nullptr : found;
}

const Format& format_of(std::string_view source_name, std::string_view written) {
  const Format* const found = find_format(written);
  if (found == nullptr) refuse_extension(source_name);
  return *found;
}

const Format& format_of(const std::filesystem::path& path) {
  return format_of(path.string(), path.extension().string());
}

}  // namespace

bool is_model_extension(std::string_view extension) { return find_format(extension) != nullptr; }

void refuse_extension(std::string_view source_name, std::string_view also_allowed) {
  std::error_code ignored;
  if (std::filesystem::is_directory(source_name, ignored)) {
    throw Error(ErrorCode::kIo, fmt::format("{}: cannot be read: Is a directory", source_name));
  }
  throw Error(ErrorCode::kArgument, fmt::format("{}: the name of a model file must end in one of: {}{}", source_name,
                                                all_extensions(), also_allowed));
}

FactorGraph read_model(const std::filesystem::path& path) {
  const Format& format = format_of(path);
  return format.parse(read_file(path, format.max_bytes), path.string());
}

FactorGraph parse_model(std::string_view text, const std::string& extension, std::string_view source_name) {
  return format_of(source_name, extension).parse(text, source_name);
}

ModelFile read_model_file(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  return parse_model_file(read_file(path, format_of(path).max_bytes), extension, path.string());
}

ModelFile parse_model_file(std::string_view text, const std::string& extension, std::string_view source_name) {
  const Format& format = format_of(source_name, extension);
  ModelFile file{format.parse(text, source_name), format.is_network(text)};
  if (format.parse == parse_dimacs && has_shown(text)) {
    file.warnings.emplace_back("lines name the variables to be shown: here all count; `treesample count` counts those");
  }
  if (!file.is_network) return file;
  NetworkCheck check = check_network(file.graph);
  file.warnings = std::move(check.warnings);
  if (!check.has_form) {
    file.warnings.emplace_back(
        "it is said to be a Bayesian network, but has not one table for each variable as its last one");
  }
  return file;
}

std::string model_format(const std::filesystem::path& path) { return std::string(format_of(path).extension); }

std::string extension_of_text(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (text.starts_with('{')) return is_cfn(text) ? ".cfn" : ".json";
  if (text.starts_with('<')) return text.substr(0, 2000).find("<smile") == std::string_view::npos ? ".xmlbif" : ".xdsl";
  if (text.starts_with("treesample-circuit")) return ".circuit";
  if (is_dimacs(text)) return ".cnf";
  if (text.starts_with('#') || text.substr(0, 1).find_first_of("0123456789") == 0) return ".fg";
  if (text.starts_with('%')) return ".net";
  if (text.starts_with("p wcnf")) return ".wcnf";
  std::string word(text.substr(0, std::min(text.find_first_of(" \t\r\n{"), text.size())));
  for (char& c : word) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  if (word == "NET" || word == "CLASS") return ".net";
  if (word == "BELIEF") return ".dsc";
  return word.starts_with("MARKOV") || word.starts_with("BAYES") ? ".uai" : ".bif";
}

std::string format_model(const FactorGraph& graph, const std::filesystem::path& path) {
  const Format& format = format_of(path);
  try {
    return format.format(graph);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", path.string(), error.what()));
  }
}

void write_model(const FactorGraph& graph, const std::filesystem::path& path) {
  write_file_atomically(path, format_model(graph, path));
}

std::vector<std::filesystem::path> model_files(const std::filesystem::path& folder, std::string_view asked_by) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string extension = entry.path().extension().string();
    const bool is_model = std::any_of(std::begin(kFormats), std::end(kFormats),
                                      [&](const Format& format) { return extension == format.extension; });
    if (entry.is_regular_file() && is_model) files.push_back(entry.path());
  }
  check_argument(!error && !files.empty(), asked_by,
                 fmt::format("'{}' is no folder with models ({})", folder.string(), all_extensions()));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace treesample
