#include "exact/slice_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "math/hash.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"

namespace treesample {
namespace {

constexpr std::string_view kMagic = "treesample-slices 2 ";

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size();
  for (const char c : text) hash = mixed(hash, static_cast<unsigned char>(c));
  return hash;
}

// Covers all numbers of the graph that is eliminated, which is the model after evidence and reductions.
std::uint64_t hash_of(const FactorGraph& graph) {
  std::uint64_t hash = mixed(1, static_cast<std::uint64_t>(graph.num_variables()));
  for (int v = 0; v < graph.num_variables(); ++v) hash = mixed(hash, static_cast<std::uint64_t>(graph.num_states(v)));
  for (const Factor& factor : graph.factors()) {
    hash = mixed(hash, factor.scope().size());
    for (const int v : factor.scope()) hash = mixed(hash, static_cast<std::uint64_t>(v));
    for (const double value : factor.log_values()) hash = mixed(hash, std::bit_cast<std::uint64_t>(value));
  }
  return hash;
}

std::string bits_of(double value) { return fmt::format("{:016x}", std::bit_cast<std::uint64_t>(value)); }

// Reads the words of a line one after the other; nothing more once a word is malformed.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  template <typename Number>
  std::optional<Number> number(int base) {
    const std::string_view word = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(std::min(rest_.size(), word.size() + 1));
    Number value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
    if (error != std::errc() || end != word.data() + word.size() || word.empty()) return {};
    return value;
  }
  std::optional<double> real() {
    const auto bits = number<std::uint64_t>(16);
    return bits ? std::optional(std::bit_cast<double>(*bits)) : std::nullopt;
  }
  // A count, then as many distinct numbers below `most`.
  std::optional<std::vector<int>> list(int most) {
    const auto count = number<int>(10);
    if (!count || *count < 0 || *count > most) return {};
    std::vector<int> values;
    std::vector<bool> is_there(static_cast<std::size_t>(most), false);
    for (int i = 0; i < *count; ++i) {
      const auto value = number<int>(10);
      if (!value || *value < 0 || *value >= most || is_there[*value]) return {};
      is_there[*value] = true;
      values.push_back(*value);
    }
    return values;
  }
  [[nodiscard]] bool is_over() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// The line without its checksum; nothing where the checksum is wrong.
std::optional<std::string_view> checked(std::string_view line) {
  const std::size_t end = line.rfind(' ');
  if (end == std::string_view::npos) return {};
  const auto hash = Words(line.substr(end + 1)).number<std::uint64_t>(16);
  if (hash != hash_of(line.substr(0, end))) return {};
  return line.substr(0, end);
}

}  // namespace

SliceFile::SliceFile(std::filesystem::path path, const FactorGraph& graph)
    : path_(std::move(path)), model_(hash_of(graph)) {
  const auto fail = [&](const char* what, const std::string& why) {
    if (descriptor_ >= 0) ::close(descriptor_);
    throw Error(ErrorCode::kIo, fmt::format("{}: {}: {}", path_.string(), what, why));
  };
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  if (descriptor_ < 0) fail("cannot be opened", std::generic_category().message(errno));
  struct stat status = {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) fail("cannot be used", "it is no regular file");
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) fail("cannot be used", "another run keeps its slices there");
  try {
    read(graph);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

SliceFile::~SliceFile() { ::close(descriptor_); }

void SliceFile::refuse(const std::string& why) const {
  throw Error(ErrorCode::kParse,
              fmt::format("{}: {}; allowed is a file of slices that is whole, or none", path_.string(), why));
}

void SliceFile::read(const FactorGraph& graph) {
  const std::string text = read_file(path_);
  const std::size_t whole = text.rfind('\n') + 1;  // 0 where there is no line
  if (whole == 0 && kMagic.substr(0, text.size()) != std::string_view(text).substr(0, kMagic.size())) {
    refuse("is no file of slices");
  }
  std::size_t number = 0;
  for (std::size_t first = 0; first < whole; ++number) {
    const std::size_t end = text.find('\n', first);
    const std::string_view line(text.data() + first, end - first);
    if (number == 0 && !line.starts_with(kMagic)) refuse("is no file of slices");
    const std::optional<std::string_view> content = checked(line);
    if (!content) refuse(fmt::format("line {} is damaged", number + 1));
    if (number == 0) {
      read_head(content->substr(kMagic.size()), graph);
    } else {
      read_row(*content);
    }
    first = end + 1;
  }
  if (::ftruncate(descriptor_, static_cast<off_t>(whole)) != 0) refuse("cannot be made shorter");
}

void SliceFile::read_head(std::string_view line, const FactorGraph& graph) {
  Words words(line);
  const auto model = words.number<std::uint64_t>(16);
  if (!model) refuse("line 1 is damaged");
  if (*model != model_) {
    throw Error(ErrorCode::kArgument,
                fmt::format("{}: has slices of another model, or of other evidence", path_.string()));
  }
  const auto order = words.list(graph.num_variables());
  const auto variables = words.list(graph.num_variables());
  if (!order || !variables || !words.is_over() || std::ssize(*order) != graph.num_variables() || variables->empty()) {
    refuse("line 1 is damaged");
  }
  order_ = *order;
  slice_variables_ = *variables;
  for (const int v : slice_variables_) num_slices_ *= graph.num_states(v);
}

void SliceFile::read_row(std::string_view line) {
  Words words(line);
  const auto slice = words.number<std::size_t>(10);
  const auto lower = words.real(), upper = words.real(), estimate = words.real();
  const bool is_row = slice && lower && upper && estimate && words.is_over() && *slice == rows_.size() &&
                      static_cast<double>(*slice) < num_slices_ && *lower <= *upper;
  if (!is_row) refuse(fmt::format("line {} is damaged", rows_.size() + 2));
  rows_.push_back({{*lower, *upper}, *estimate});
}

void SliceFile::append(const std::string& line) {
  const std::string text = fmt::format("{} {:016x}\n", line, hash_of(line));
  const auto fail = [&] {
    throw Error(ErrorCode::kWrite,
                fmt::format("{}: cannot be written: {}", path_.string(), std::generic_category().message(errno)));
  };
  for (std::string_view left = text; !left.empty();) {
    const ssize_t written = ::write(descriptor_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(descriptor_) != 0) fail();
}

void SliceFile::begin(const EliminationCost& cost) {
  TS_ASSERT(is_new());
  append(fmt::format("{}{:016x} {} {} {} {}", kMagic, model_, cost.order.size(), fmt::join(cost.order, " "),
                     cost.slice_variables.size(), fmt::join(cost.slice_variables, " ")));
  order_ = cost.order;
  slice_variables_ = cost.slice_variables;
  num_slices_ = cost.num_slices;
}

void SliceFile::add(const Row& row) {
  append(fmt::format("{} {} {} {}", rows_.size(), bits_of(row.log_z.lower), bits_of(row.log_z.upper),
                     bits_of(row.estimate)));
  rows_.push_back(row);
}

}  // namespace treesample
