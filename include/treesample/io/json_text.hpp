// JSON values as text.
#pragma once

#include <string>

namespace treesample {

// Valid UTF-8 whatever the value holds: names of files and of states may be any bytes, and those that are not UTF-8
// become the replacement character. Json is nlohmann::json or its ordered form; all JSON that is written goes through
// here.
template <class Json>
std::string json_text(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace treesample
