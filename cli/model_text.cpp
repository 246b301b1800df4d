// The only file that includes the header of zlib.
#include "model_text.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <filesystem>
#include <string_view>

#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/model_file.hpp"

namespace treesample::cli {
namespace {

class Inflation {
 public:
  Inflation() {
    constexpr int kGzip = 16 + MAX_WBITS;  // the format of gzip, and the largest window
    if (inflateInit2(&stream_, kGzip) != Z_OK) throw std::bad_alloc();
  }
  ~Inflation() { inflateEnd(&stream_); }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_ = {};
};

// The length that gzip writes at the end of a file, modulo 2^32. Memory of this size is allocated at once: if the text
// grew step by step, it would be in memory twice.
std::int64_t stated_length(const std::string& packed) {
  std::int64_t length = 0;
  if (packed.size() < 4) return 0;
  for (std::size_t i = 0; i < 4; ++i) {
    length |= std::int64_t{static_cast<unsigned char>(packed[packed.size() - 4 + i])} << (8 * i);
  }
  return length;
}

std::string unpacked(const std::string& packed, const std::string& name, const UnpackLimits& limits) {
  constexpr std::size_t kChunk = std::size_t{1} << 16;
  const auto too_much = [&](const std::string& why) {
    throw Error(ErrorCode::kResource, fmt::format("{}: {}", name, why));
  };
  Inflation inflation;
  z_stream& stream = inflation.stream();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));  // zlib does not write to it
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string contents;
  const std::int64_t length = stated_length(packed);
  if (length <= limits.bytes) contents.reserve(static_cast<std::size_t>(length) + kChunk);
  for (int code = Z_OK; code != Z_STREAM_END || stream.avail_in > 0;) {
    if (code == Z_STREAM_END && inflateReset(&stream) != Z_OK) break;  // several compressed files may be concatenated
    const std::size_t used = contents.size();
    contents.resize(used + kChunk);
    stream.next_out = reinterpret_cast<Bytef*>(contents.data() + used);
    stream.avail_out = static_cast<uInt>(kChunk);
    code = inflate(&stream, Z_NO_FLUSH);
    contents.resize(contents.size() - stream.avail_out);
    if (code != Z_OK && code != Z_STREAM_END) {
      throw Error(ErrorCode::kParse, fmt::format("{}: it is not, or not all of, what gzip writes", name));
    }
    if (static_cast<std::int64_t>(contents.size()) > limits.bytes) {
      too_much(fmt::format("too large to be unpacked, allowed are {} bytes", limits.bytes));
    }
    if (limits.should_stop && limits.should_stop()) too_much("it could not be unpacked within the time (--time)");
  }
  return contents;
}

bool is_packed(std::string_view contents) { return contents.starts_with("\x1f\x8b"); }

}  // namespace

std::optional<ModelText> model_text(const std::string& model_file, const UnpackLimits& limits) {
  const std::filesystem::path path(model_file);
  if (model_file == "-") {
    std::string contents = read_file("/dev/stdin");
    if (is_packed(contents)) contents = unpacked(contents, "standard input", limits);
    if (contents.empty()) throw Error(ErrorCode::kParse, "standard input is empty, but '-' reads the model from it");
    std::string extension = extension_of_text(contents);
    return ModelText{std::move(contents), std::move(extension)};
  }
  if (path.extension() != ".gz") return {};
  return ModelText{unpacked(read_file(path), model_file, limits), path.stem().extension().string()};
}

}  // namespace treesample::cli
