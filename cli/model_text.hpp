// Models that are not plain files: from standard input, and compressed by gzip.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "treesample/infer/model_input.hpp"
#include "treesample/io/file.hpp"
#include "treesample/stop.hpp"

namespace treesample::cli {

// A few bytes may expand to gigabytes, so unpacked data have their own limits.
struct UnpackLimits {
  std::int64_t bytes = kMaxFileBytes;
  ShouldStop should_stop = {};  // ends with Error (kResource)
};

// The text of "-" and of a file whose name ends in .gz; none for all others. Throws Error as read_file does, and kParse
// for a file that is not in the format of gzip.
std::optional<ModelText> model_text(const std::string& model_file, const UnpackLimits& limits = {});

}  // namespace treesample::cli
