#include "train/episode_codec.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "treesample/error.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

static_assert(std::endian::native == std::endian::little, "the bytes of an episode are those of the machine");

constexpr std::string_view kMagic = "TSEP0003";
constexpr std::string_view kAnyMagic = "TSEP";
constexpr std::size_t kMostNameBytes = 200;

constexpr std::optional<double> Measurements::*kMeasurements[] = {
    &Measurements::delta_kl,         &Measurements::delta_kl_phi,
    &Measurements::delta_kl_plain,   &Measurements::delta_kl_telescoped,
    &Measurements::bellman_residual, &Measurements::log_z};

template <typename T>
void put(std::string& bytes, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

template <typename T>
void put_all(std::string& bytes, const std::vector<T>& values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

void put_measurement(std::string& bytes, const std::optional<double>& value) {
  put(bytes, value.value_or(std::numeric_limits<double>::quiet_NaN()));
}

void put_text(std::string& bytes, std::string_view text) {
  put(bytes, static_cast<std::uint32_t>(text.size()));
  bytes.append(text);
}

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorCode::kParse, "episode: " + what); }

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  template <typename T>
  std::vector<T> get_all(std::uint64_t count) {
    // Counts have 32 bits, so the product does not overflow. It is checked before memory is allocated.
    const std::string_view raw = take(count * sizeof(T));
    std::vector<T> values(count);
    if (count > 0) std::memcpy(values.data(), raw.data(), raw.size());
    return values;
  }
  std::optional<double> get_measurement() {
    const auto value = get<double>();
    return std::isfinite(value) ? std::optional<double>(value) : std::nullopt;
  }
  std::string_view get_text() {
    const auto length = get<std::uint32_t>();
    if (length > kMostNameBytes) fail("a name is too long");
    return take(length);
  }
  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size()) fail("it ends early");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  [[nodiscard]] bool is_at_end() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

struct Preamble {
  std::string library_version;
  std::string worker;
};

Preamble read_preamble(Reader& reader) {
  if (reader.take(kMagic.size()) != kMagic) fail("it does not begin like one");
  std::string version = shortened(reader.get_text(), kMostNameBytes);
  return {.library_version = std::move(version), .worker = shortened(reader.get_text(), kMostNameBytes)};
}

}  // namespace

std::string episode_worker(std::string_view bytes) {
  Reader reader(bytes);
  return read_preamble(reader).worker;
}

std::uint64_t fingerprint(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

std::string encode_episode(const FinishedEpisode& episode, std::uint64_t options_fingerprint) {
  const Experience& experience = *episode.experience;
  std::string bytes(kMagic);
  put_text(bytes, TREESAMPLE_VERSION);
  put_text(bytes, std::string_view(episode.worker).substr(0, kMostNameBytes));
  put(bytes, options_fingerprint);
  put(bytes, episode.problem);
  put(bytes, episode.version);
  for (const auto measurement : kMeasurements) put_measurement(bytes, episode.measured.*measurement);
  put(bytes, static_cast<std::uint32_t>(experience.num_samples()));
  put(bytes, static_cast<std::uint32_t>(experience.num_rows()));
  put(bytes, static_cast<std::uint32_t>(experience.num_targets));
  put_all(bytes, experience.samples);
  put_all(bytes, experience.row_samples);
  put_all(bytes, experience.row_levels);
  put_all(bytes, experience.row_targets);
  put(bytes, static_cast<std::uint32_t>(experience.row_highs.size()));
  put_all(bytes, experience.row_highs);
  return bytes;
}

bool is_foreign_episode(std::string_view bytes) { return bytes.starts_with(kAnyMagic) && !bytes.starts_with(kMagic); }

FinishedEpisode decode_episode(std::string_view bytes, std::uint64_t options_fingerprint,
                               const TrainingProblems& problems) {
  Reader reader(bytes);
  const Preamble preamble = read_preamble(reader);
  if (preamble.library_version != TREESAMPLE_VERSION) {
    fail(fmt::format("it was made by version {} of treesample, this is {}", preamble.library_version,
                     TREESAMPLE_VERSION));
  }
  FinishedEpisode episode;
  episode.worker = preamble.worker;
  if (reader.get<std::uint64_t>() != options_fingerprint) fail("it belongs to a run with other options");
  episode.problem = reader.get<std::uint64_t>();
  episode.version = reader.get<std::int64_t>();
  for (const auto measurement : kMeasurements) episode.measured.*measurement = reader.get_measurement();
  const std::uint64_t num_samples = reader.get<std::uint32_t>();
  const std::uint64_t num_rows = reader.get<std::uint32_t>();
  const std::uint64_t num_targets = reader.get<std::uint32_t>();
  if (episode.problem >= kFirstTestProblem || num_targets > FactorGraph::kMaxStates) fail("a number is out of range");
  auto experience = std::make_shared<Experience>();
  experience->problem = problems.training(episode.problem);
  experience->num_targets = static_cast<int>(num_targets);
  experience->samples = reader.get_all<int>(num_samples * experience->num_variables());
  experience->row_samples = reader.get_all<int>(num_rows);
  experience->row_levels = reader.get_all<int>(num_rows);
  experience->row_targets = reader.get_all<float>(num_rows * num_targets);
  experience->row_highs = reader.get_all<float>(reader.get<std::uint32_t>());
  if (!reader.is_at_end()) fail("there is more than it says");
  experience->validate();
  experience->check_targets();
  episode.experience = std::move(experience);
  return episode;
}

}  // namespace treesample
