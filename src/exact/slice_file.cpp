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
#include <cmath>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "math/compensated_sum.hpp"
#include "math/hash.hpp"
#include "stopwatch.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr std::string_view kMagic = "treesample-slices 3 ";

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
  // A count, then as many distinct numbers below `most`, or below the count.
  std::optional<std::vector<int>> list(int most = 0) {
    const auto count = number<int>(10);
    if (!count || *count < 0 || static_cast<std::size_t>(*count) > rest_.size()) return {};
    const int end = most > 0 ? most : *count;
    std::vector<int> values;
    std::vector<bool> is_there(static_cast<std::size_t>(end), false);
    for (int i = 0; i < *count; ++i) {
      const auto value = number<int>(10);
      if (!value || *value < 0 || *value >= end || is_there[*value]) return {};
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

// Reads the lines of a file of slices, and says which one is damaged.
class SliceReader {
 public:
  SliceReader(const std::filesystem::path& path, std::string_view text) : path_(path), text_(text) {}

  SliceContents read() {
    contents_.num_bytes = text_.rfind('\n') + 1;  // 0 where there is no line
    if (contents_.num_bytes == 0 && kMagic.substr(0, text_.size()) != text_.substr(0, kMagic.size())) {
      refuse("is no file of slices");
    }
    for (std::size_t first = 0; first < contents_.num_bytes;) {
      const std::size_t end = text_.find('\n', first);
      const std::string_view line = text_.substr(first, end - first);
      if (++number_ == 1 && !line.starts_with(kMagic)) refuse("is no file of slices");
      const std::optional<std::string_view> content = checked(line);
      if (!content || !(number_ == 1 ? read_head(content->substr(kMagic.size())) : read_row(*content))) {
        refuse(fmt::format("line {} is damaged", number_));
      }
      first = end + 1;
    }
    return std::move(contents_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCode::kParse,
                fmt::format("{}: {}; allowed is a file of slices that is whole, or none", path_.string(), why));
  }

  bool read_head(std::string_view line) {
    Words words(line);
    const auto model = words.number<std::uint64_t>(16);
    const auto num_slices = words.number<std::uint64_t>(10);
    const auto upper = words.real(), slack = words.real();
    const auto order = words.list();
    const auto variables = order ? words.list(static_cast<int>(order->size())) : std::nullopt;
    if (!model || !num_slices || !upper || !slack || !order || !variables || !words.is_over() || variables->empty() ||
        !(*slack >= 0.0)) {
      return false;
    }
    contents_.head = {*model, *num_slices, *upper, *slack, *order, *variables};
    return true;
  }

  bool read_row(std::string_view line) {
    Words words(line);
    const auto slice = words.number<std::uint64_t>(10);
    const auto lower = words.real(), upper = words.real(), estimate = words.real();
    return slice && lower && upper && estimate && words.is_over() && *slice < contents_.head.num_slices &&
           *lower <= *upper && contents_.rows.emplace(*slice, SliceRow{{*lower, *upper}, *estimate}).second;
  }

  const std::filesystem::path& path_;
  std::string_view text_;
  std::size_t number_ = 0;
  SliceContents contents_;
};

std::string with_checksum(const std::string& line) { return fmt::format("{} {:016x}\n", line, hash_of(line)); }

std::string head_text(const SliceHead& head) {
  return with_checksum(fmt::format("{}{:016x} {} {} {} {} {} {} {}", kMagic, head.model, head.num_slices,
                                   bits_of(head.log_upper), bits_of(head.log_slack), head.order.size(),
                                   fmt::join(head.order, " "), head.slice_variables.size(),
                                   fmt::join(head.slice_variables, " ")));
}

std::string row_text(std::uint64_t slice, const SliceRow& row) {
  return with_checksum(
      fmt::format("{} {} {} {}", slice, bits_of(row.log_z.lower), bits_of(row.log_z.upper), bits_of(row.estimate)));
}

// No configuration has more than the product of the maxima.
double log_of_maxima(const FactorGraph& graph) {
  double sum = graph.log_num_configurations(), magnitude = std::abs(sum);
  for (const Factor& factor : graph.factors()) {
    const double log_max = factor.log_max().value_or(HUGE_VAL);
    if (log_max == kNegInf) return kNegInf;
    sum += log_max;
    magnitude += std::abs(log_max);
  }
  return sum + kEpsilon * (graph.num_factors() + graph.num_variables() + 4.0) * (1.0 + magnitude);
}

}  // namespace

SliceContents read_slices(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  return SliceReader(path, text).read();
}

std::string slices_text(const SliceContents& contents) {
  std::string text = head_text(contents.head);
  for (const auto& [slice, row] : contents.rows) text += row_text(slice, row);
  return text;
}

SliceFile::SliceFile(std::filesystem::path path, const FactorGraph& graph) : path_(std::move(path)) {
  contents_.head.model = hash_of(graph);
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

SliceFile::~SliceFile() {
  static_cast<void>(::fsync(descriptor_));
  ::close(descriptor_);
}

void SliceFile::read(const FactorGraph& graph) {
  SliceContents found = read_slices(path_);
  if (::ftruncate(descriptor_, static_cast<off_t>(found.num_bytes)) != 0) {
    throw Error(ErrorCode::kIo, fmt::format("{}: cannot be made shorter", path_.string()));
  }
  if (found.num_bytes == 0) return;
  if (found.head.model != contents_.head.model) {
    throw Error(ErrorCode::kArgument,
                fmt::format("{}: has slices of another model, or of other evidence", path_.string()));
  }
  double num_slices = 1.0;
  for (const int v : found.head.slice_variables) num_slices *= v < graph.num_variables() ? graph.num_states(v) : 0.0;
  const bool is_order = std::ssize(found.head.order) == graph.num_variables() &&
                        std::ranges::max(found.head.order) < graph.num_variables();
  if (!is_order || num_slices != static_cast<double>(found.head.num_slices)) {
    throw Error(
        ErrorCode::kParse,
        fmt::format("{}: line 1 is damaged; allowed is a file of slices that is whole, or none", path_.string()));
  }
  contents_ = std::move(found);
}

void SliceFile::append(const std::string& text) {
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
  // Many slices may take less time than the disk.
  constexpr double kSeconds = 0.5;
  if (since_sync_.seconds() < kSeconds) return;
  if (::fsync(descriptor_) != 0) fail();
  since_sync_ = {};
}

void SliceFile::begin(const FactorGraph& graph, const EliminationPlan& plan, double log_slack) {
  TS_ASSERT(is_new());
  contents_.head.num_slices = static_cast<std::uint64_t>(plan.num_slices);
  contents_.head.log_upper = log_of_maxima(graph);
  contents_.head.log_slack = log_slack;
  contents_.head.order = plan.order;
  contents_.head.slice_variables = plan.slice_variables;
  append(head_text(contents_.head));
}

void SliceFile::add(std::uint64_t slice, const SliceRow& row) {
  append(row_text(slice, row));
  contents_.rows.emplace(slice, row);
}

}  // namespace treesample
