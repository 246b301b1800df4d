#include "train/episode_codec.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "treesample/error.hpp"

namespace treesample {
namespace {

static_assert(std::endian::native == std::endian::little, "the bytes of an episode are those of the machine");

constexpr std::string_view kMagic = "TSEP0001";

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

[[noreturn]] void fail(const char* what) { throw Error(ErrorCode::kParse, std::string("episode: ") + what); }

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
    // Counts come from 32 bits: the product cannot overflow, and is checked before memory is taken.
    const std::string_view raw = take(count * sizeof(T));
    std::vector<T> values(count);
    if (count > 0) std::memcpy(values.data(), raw.data(), raw.size());
    return values;
  }
  std::optional<double> get_measurement() {
    const auto value = get<double>();
    return std::isfinite(value) ? std::optional<double>(value) : std::nullopt;
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

}  // namespace

std::uint64_t fingerprint(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

std::string encode_episode(const FinishedEpisode& episode, std::uint64_t options_fingerprint) {
  const Experience& experience = *episode.experience;
  std::string bytes(kMagic);
  put(bytes, options_fingerprint);
  put(bytes, episode.problem);
  put(bytes, episode.version);
  put_measurement(bytes, episode.delta_kl);
  put_measurement(bytes, episode.delta_kl_phi);
  put_measurement(bytes, episode.delta_kl_plain);
  put(bytes, static_cast<std::uint32_t>(experience.num_samples()));
  put(bytes, static_cast<std::uint32_t>(experience.num_rows()));
  put(bytes, static_cast<std::uint32_t>(experience.num_targets));
  put_all(bytes, experience.samples);
  put_all(bytes, experience.row_samples);
  put_all(bytes, experience.row_levels);
  put_all(bytes, experience.row_targets);
  put(bytes, fingerprint(bytes));
  return bytes;
}

FinishedEpisode decode_episode(std::string_view bytes, std::uint64_t options_fingerprint,
                               const TrainingProblems& problems) {
  if (bytes.size() < sizeof(std::uint64_t)) fail("it ends early");
  Reader checksum(bytes.substr(bytes.size() - sizeof(std::uint64_t)));
  bytes.remove_suffix(sizeof(std::uint64_t));
  if (checksum.get<std::uint64_t>() != fingerprint(bytes)) fail("the checksum does not agree");
  Reader reader(bytes);
  if (reader.take(kMagic.size()) != kMagic) fail("it does not begin like one");
  if (reader.get<std::uint64_t>() != options_fingerprint) fail("it belongs to a run with other options");
  FinishedEpisode episode;
  episode.problem = reader.get<std::uint64_t>();
  episode.version = reader.get<std::int64_t>();
  episode.delta_kl = reader.get_measurement();
  episode.delta_kl_phi = reader.get_measurement();
  episode.delta_kl_plain = reader.get_measurement();
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
  if (!reader.is_at_end()) fail("there is more than it says");
  experience->validate();
  episode.experience = std::move(experience);
  return episode;
}

}  // namespace treesample
