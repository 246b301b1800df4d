#include "train/episode_codec.hpp"

#include <gtest/gtest.h>

#include "treesample/error.hpp"
#include "treesample/train/train.hpp"

namespace treesample {
namespace {

TrainOptions small_options() {
  TrainOptions options;
  options.problems.values["n"] = 6;
  options.episode.budget = 30;
  options.episode.num_samples = 5;
  return options;
}

TEST(EpisodeCodec, BytesGiveTheEpisodeBack) {
  const TrainOptions options = small_options();
  const TrainingProblems problems(options);
  FinishedEpisode episode = run_numbered_episode(options, problems, 3, {});
  episode.delta_kl_phi.reset();
  const FinishedEpisode back = decode_episode(encode_episode(episode, 77), 77, problems);
  EXPECT_EQ(back.problem, 3U);
  EXPECT_EQ(back.version, episode.version);
  EXPECT_EQ(back.delta_kl, episode.delta_kl);
  EXPECT_FALSE(back.delta_kl_phi.has_value());
  EXPECT_EQ(back.experience->samples, episode.experience->samples);
  EXPECT_EQ(back.experience->row_samples, episode.experience->row_samples);
  EXPECT_EQ(back.experience->row_levels, episode.experience->row_levels);
  EXPECT_EQ(back.experience->row_targets, episode.experience->row_targets);
  EXPECT_EQ(back.experience->problem->id, 3U);
}

TEST(EpisodeCodec, DamagedBytesAreRefused) {
  const TrainOptions options = small_options();
  const TrainingProblems problems(options);
  const std::string whole = encode_episode(run_numbered_episode(options, problems, 0, {}), 77);
  EXPECT_THROW(decode_episode(whole, 78, problems), Error);  // other options
  for (std::size_t length = 0; length < whole.size(); length += 7) {
    EXPECT_THROW(decode_episode(std::string_view(whole).substr(0, length), 77, problems), Error) << length;
  }
  for (std::size_t i = 0; i < whole.size(); i += 5) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_THROW(decode_episode(damaged, 77, problems), Error) << i;
  }
}

// A checksum protects against accidents, not against a sender that computes it.
TEST(EpisodeCodec, ContentIsCheckedEvenWhenTheChecksumAgrees) {
  const TrainOptions options = small_options();
  const TrainingProblems problems(options);
  const std::string whole = encode_episode(run_numbered_episode(options, problems, 0, {}), 77);
  const auto forge = [&](std::size_t offset, std::uint32_t value) {
    std::string bytes = whole.substr(0, whole.size() - 8);
    bytes.replace(offset, 4, reinterpret_cast<const char*>(&value), 4);
    const std::uint64_t checksum = fingerprint(bytes);
    return bytes.append(reinterpret_cast<const char*>(&checksum), 8);
  };
  constexpr std::size_t kCounts = 8 + 3 * 8 + 3 * 8;  // where the number of samples stands
  EXPECT_NO_THROW(decode_episode(forge(kCounts, 5), 77, problems));
  EXPECT_THROW(decode_episode(forge(kCounts, 6), 77, problems), Error);
  EXPECT_THROW(decode_episode(forge(kCounts, UINT32_MAX), 77, problems), Error);
  EXPECT_THROW(decode_episode(forge(kCounts + 4, UINT32_MAX), 77, problems), Error);
  EXPECT_THROW(decode_episode(forge(kCounts + 8, UINT32_MAX), 77, problems), Error);
  EXPECT_THROW(decode_episode(forge(kCounts + 12, 2), 77, problems), Error);  // a state of a binary variable
  EXPECT_THROW(decode_episode(forge(whole.size() - 12, 0x7fc00000), 77, problems), Error);  // NaN as a target
  EXPECT_THROW(decode_episode(forge(8 + 8 + 4, 1), 77, problems), Error);                   // a test problem
}

}  // namespace
}  // namespace treesample
