// JSON values as text.
#pragma once

#include <string>

namespace treesample {

// The text is valid UTF-8 whatever the value contains: names of files and states may have any bytes, and bytes that are
// not UTF-8 become the replacement character. Json is nlohmann::json or its ordered form. All JSON is written by this
// function, or by JsonWriter (io/json_writer.hpp).
template <class Json>
std::string json_text(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace treesample
