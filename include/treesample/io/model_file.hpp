// One entry point for every model format, chosen by the extension of the file name.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

// .uai, .bif and .json (tables only; models with programs are for the oracle room), in any case. Throws kArgument
// naming the allowed extensions for any other, and whatever the reader of the format throws.
FactorGraph read_model(const std::filesystem::path& path);
// The same for a text; the name is for messages.
FactorGraph parse_model(std::string_view text, const std::string& extension, std::string_view source_name);

}  // namespace treesample
