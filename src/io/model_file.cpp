#include "treesample/io/model_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "treesample/error.hpp"
#include "treesample/io/bif.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/json_model.hpp"
#include "treesample/io/uai.hpp"

namespace treesample {
namespace {

// Every format; JSON is read in a way of its own, because it has a limit of its own.
struct Format {
  std::string_view extension;
  FactorGraph (*parse)(std::string_view text, std::string_view source_name);
  FactorGraph (*read)(const std::filesystem::path&);
};
constexpr Format kFormats[] = {
    {".uai", parse_uai, read_uai}, {".bif", parse_bif, read_bif}, {".json", parse_json_tables, read_json_tables}};

const Format& format_of(std::string_view source_name, std::string extension) {
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  std::string allowed;
  for (const Format& format : kFormats) {
    if (extension == format.extension) return format;
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", format.extension);
  }
  throw Error(ErrorCode::kArgument,
              fmt::format("{}: the name of a model file must end in one of: {}", source_name, allowed));
}

}  // namespace

FactorGraph read_model(const std::filesystem::path& path) {
  return format_of(path.string(), path.extension().string()).read(path);
}

FactorGraph parse_model(std::string_view text, const std::string& extension, std::string_view source_name) {
  return format_of(source_name, extension).parse(text, source_name);
}

}  // namespace treesample
