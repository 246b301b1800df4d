// Models that are not plain files: from standard input, and compressed by gzip.
#pragma once

#include <optional>
#include <string>

#include "treesample/infer/model_input.hpp"

namespace treesample::cli {

// The text of "-" and of a file whose name ends in .gz; nothing for all others. Throws Error as read_file does, and
// kParse for a file that is not in the format of gzip.
std::optional<ModelText> model_text(const std::string& model_file);

}  // namespace treesample::cli
