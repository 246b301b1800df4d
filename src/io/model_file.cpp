#include "treesample/io/model_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "treesample/error.hpp"
#include "treesample/io/bif.hpp"
#include "treesample/io/json_model.hpp"
#include "treesample/io/uai.hpp"

namespace treesample {
namespace {

struct Format {
  std::string_view extension;
  FactorGraph (*read)(const std::filesystem::path&);
};
constexpr Format kFormats[] = {{".uai", read_uai}, {".bif", read_bif}, {".json", read_json_tables}};

}  // namespace

FactorGraph read_model(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  std::string allowed;
  for (const Format& format : kFormats) {
    if (extension == format.extension) return format.read(path);
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", format.extension);
  }
  throw Error(ErrorCode::kArgument,
              fmt::format("{}: the name of a model file must end in one of: {}", path.string(), allowed));
}

}  // namespace treesample
