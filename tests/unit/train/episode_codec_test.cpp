#include "train/episode_codec.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "support/expect_error.hpp"
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
  episode.measured.delta_kl_phi.reset();
  episode.worker = "there:12";
  const FinishedEpisode back = decode_episode(encode_episode(episode, 77), 77, problems);
  EXPECT_EQ(back.problem, 3U);
  EXPECT_EQ(back.worker, "there:12");
  EXPECT_EQ(back.version, episode.version);
  EXPECT_EQ(back.measured.delta_kl, episode.measured.delta_kl);
  EXPECT_FALSE(back.measured.delta_kl_phi.has_value());
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
  EXPECT_THROW(decode_episode(whole + "x", 77, problems), Error);
}

TEST(EpisodeCodec, OtherVersionsAreNamed) {
  const TrainOptions options = small_options();
  const TrainingProblems problems(options);
  std::string bytes = encode_episode(run_numbered_episode(options, problems, 0, {}), 77);
  EXPECT_FALSE(is_foreign_episode(bytes));
  bytes[12] = '7';  // the first character of the version
  testing::expect_error(ErrorCode::kParse, "made by version 7", [&] { decode_episode(bytes, 77, problems); });
  bytes.replace(0, 8, "TSEP0001");
  EXPECT_TRUE(is_foreign_episode(bytes));
}

// A seal says who sent it, not that it makes sense.
TEST(EpisodeCodec, ContentIsChecked) {
  const TrainOptions options = small_options();
  const TrainingProblems problems(options);
  const std::string whole = encode_episode(run_numbered_episode(options, problems, 0, {}), 77);
  const auto forge = [&](std::size_t offset, std::uint32_t value) {
    std::string bytes = whole;
    return bytes.replace(offset, 4, reinterpret_cast<const char*>(&value), 4);
  };
  const std::size_t start = 8 + 4 + static_cast<std::size_t>(whole[8]) + 4;  // after magic, version and no name
  const std::size_t counts = start + 3 * 8 + 6 * 8;                          // where the number of samples stands
  EXPECT_NO_THROW(decode_episode(forge(counts, 5), 77, problems));
  EXPECT_THROW(decode_episode(forge(counts, 6), 77, problems), Error);
  EXPECT_THROW(decode_episode(forge(counts, UINT32_MAX), 77, problems), Error);
  EXPECT_THROW(decode_episode(forge(counts + 4, UINT32_MAX), 77, problems), Error);
  EXPECT_THROW(decode_episode(forge(counts + 8, UINT32_MAX), 77, problems), Error);
  EXPECT_THROW(decode_episode(forge(counts + 12, 2), 77, problems), Error);    // a state of a binary variable
  EXPECT_THROW(decode_episode(forge(start + 8 + 4, 1), 77, problems), Error);  // a test problem
  const auto forge_target = [&](float value) { return forge(whole.size() - 8, std::bit_cast<std::uint32_t>(value)); };
  for (const float wrong : {NAN, HUGE_VALF, 3e38F, -3e38F, 1e4F, -1e4F}) {
    EXPECT_THROW(decode_episode(forge_target(wrong), 77, problems), Error) << wrong;
  }
  for (const float right : {-HUGE_VALF, 0.0F, 50.0F, -50.0F}) {
    EXPECT_NO_THROW(decode_episode(forge_target(right), 77, problems)) << right;
  }
}

}  // namespace
}  // namespace treesample
