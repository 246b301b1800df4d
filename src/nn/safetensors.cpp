#include "treesample/nn/safetensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "io/json_fields.hpp"
#include "treesample/error.hpp"
#include "treesample/io/json_text.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "tensors are copied as they lie in memory");

constexpr const char* kMetadata = "__metadata__";
constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMaxDimensions = 8;

constexpr std::size_t kShownMessage = 300;  // the message may quote the file
constexpr std::size_t kShownName = 100;

[[noreturn]] void fail(const std::string& source, const std::string& message) {
  throw Error(ErrorCode::kParse, fmt::format("{}: {}", source, shortened(message, kShownMessage)));
}

// The place of a tensor in the data bytes.
struct Place {
  std::string name;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

std::uint64_t unsigned_entry(const json& array, std::size_t index, const std::string& where) {
  const json& value = array[index];
  if (!value.is_number_unsigned()) fail(where, "shape and data_offsets must hold integers from 0 up");
  return value.get<std::uint64_t>();
}

Place parse_place(const std::string& name, const json& entry, std::uint64_t data_bytes, const std::string& source) {
  const std::string where = fmt::format("{}: tensor '{}'", source, shortened(name, kShownName));
  if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") || !entry.contains("data_offsets")) {
    fail(where, "dtype, shape and data_offsets are needed");
  }
  if (entry["dtype"] != "F32") fail(where, fmt::format("dtype is {}, expected is \"F32\"", shown(entry["dtype"])));
  const json& shape = entry["shape"];
  const json& offsets = entry["data_offsets"];
  if (!shape.is_array() || shape.size() > kMaxDimensions) {
    fail(where, fmt::format("shape must be an array of at most {} entries", kMaxDimensions));
  }
  if (!offsets.is_array() || offsets.size() != 2) fail(where, "data_offsets must be an array of two entries");
  Place place = {
      .name = name, .shape = {}, .begin = unsigned_entry(offsets, 0, where), .end = unsigned_entry(offsets, 1, where)};
  if (place.begin > place.end || place.end > data_bytes) {
    fail(where,
         fmt::format("data_offsets are {} to {}, the file has {} bytes of data", place.begin, place.end, data_bytes));
  }
  std::uint64_t bytes = sizeof(float);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::uint64_t size = unsigned_entry(shape, i, where);
    if (size > data_bytes) fail(where, fmt::format("shape has the entry {}, the file has {} bytes", size, data_bytes));
    bytes = size != 0 && bytes > data_bytes / size ? data_bytes + 1 : bytes * size;  // cannot overflow
    place.shape.push_back(static_cast<std::int64_t>(size));
  }
  if (bytes != place.end - place.begin) {
    fail(where, fmt::format("shape [{}] does not fill the {} bytes of its data_offsets", fmt::join(place.shape, ","),
                            place.end - place.begin));
  }
  return place;
}

std::map<std::string, std::string> parse_metadata(const json& entry, const std::string& source) {
  if (!entry.is_object()) fail(source, "__metadata__ is not an object");
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : entry.items()) {
    if (!value.is_string()) fail(source, fmt::format("__metadata__ entry '{}' is not a string", key));
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

}  // namespace

std::string write_safetensors(const TensorFile& file) {
  json header = json::object();
  if (!file.metadata.empty()) header[kMetadata] = file.metadata;
  std::uint64_t offset = 0;
  for (const NamedTensor& tensor : file.tensors) {
    std::int64_t count = 1;
    for (const std::int64_t size : tensor.shape) count *= size;
    check_argument(count == static_cast<std::int64_t>(tensor.values.size()), "write_safetensors",
                   fmt::format("tensor '{}' has {} values for {} entries", tensor.name, tensor.values.size(), count));
    check_argument(tensor.name != kMetadata && !header.contains(tensor.name), "write_safetensors",
                   fmt::format("the name '{}' is taken", tensor.name));
    const std::uint64_t end = offset + tensor.values.size() * sizeof(float);
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = json_text(header);
  text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');  // aligns the data
  const std::uint64_t length = text.size();
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &length, kLengthBytes);
  bytes += text;
  bytes.reserve(bytes.size() + offset);
  for (const NamedTensor& tensor : file.tensors) {
    bytes.append(reinterpret_cast<const char*>(tensor.values.data()), tensor.values.size() * sizeof(float));
  }
  return bytes;
}

TensorFile parse_safetensors(std::string_view bytes, const std::string& source) {
  std::uint64_t length = 0;
  if (bytes.size() < kLengthBytes)
    fail(source, fmt::format("{} bytes are too few for a safetensors file", bytes.size()));
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > bytes.size() - kLengthBytes || length > kMaxTensorHeaderBytes) {
    fail(source, fmt::format("the header's length is {}, the file has {} bytes and {} are allowed", length,
                             bytes.size(), kMaxTensorHeaderBytes));
  }
  const json header = parse_json_text(bytes.substr(kLengthBytes, length), source + ": the header");
  if (!header.is_object()) fail(source, "the header is not a JSON object");
  const std::string_view data = bytes.substr(kLengthBytes + length);
  TensorFile file;
  std::vector<Place> places;
  for (const auto& [name, entry] : header.items()) {
    if (name == kMetadata) {
      file.metadata = parse_metadata(entry, source);
    } else {
      places.push_back(parse_place(name, entry, data.size(), source));
    }
  }
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::uint64_t next = 0;
  for (Place& place : places) {
    if (place.begin != next) {
      fail(source, fmt::format("tensor '{}' begins at byte {}, expected is {}", place.name, place.begin, next));
    }
    next = place.end;
    NamedTensor& tensor = file.tensors.emplace_back();
    tensor.name = std::move(place.name);
    tensor.shape = std::move(place.shape);
    tensor.values.resize((place.end - place.begin) / sizeof(float));
    if (!tensor.values.empty()) std::memcpy(tensor.values.data(), data.data() + place.begin, place.end - place.begin);
  }
  if (next != data.size()) fail(source, fmt::format("{} bytes of data, the tensors have {}", data.size(), next));
  return file;
}

}  // namespace treesample
