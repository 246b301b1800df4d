// What is refused of the file that keeps a training run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <tuple>

#include "support/expect_error.hpp"
#include "support/small_training.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/nn/safetensors.hpp"
#include "treesample/train/train.hpp"

namespace treesample {
namespace {

class Checkpoint : public testing::TemporaryFolder {
 protected:
  // The options of a run of so many episodes that was kept in the folder.
  [[nodiscard]] TrainOptions trained(int num_episodes) const {
    TrainOptions options = testing::small_deterministic_training(num_episodes);
    options.folder = folder_;
    train(options);
    return options;
  }
};

TEST_F(Checkpoint, OtherOptionsAndTruncatedFilesAreRefused) {
  TrainOptions options = trained(2);
  options.resume = true;
  TrainOptions other = options;
  other.episode.budget = 61;
  testing::expect_error(ErrorCode::kArgument, "'budget' is 60", [&] { train(other); });
  const std::filesystem::path path = folder_ / "checkpoint.safetensors";
  const std::string whole = read_file(path);
  for (const std::size_t length : {std::size_t{0}, std::size_t{100}, whole.size() - 1}) {
    write_file_atomically(path, whole.substr(0, length));
    EXPECT_THROW(train(options), Error) << length;
  }
  std::string changed = whole;
  changed.replace(changed.find("treesample-checkpoint"), 10, "something-");
  write_file_atomically(path, changed);
  EXPECT_THROW(train(options), Error);
}

// A checkpoint whose tensor `name` begins with `value`.
void spoil(const std::filesystem::path& path, const std::string& name, float value) {
  TensorFile file = parse_safetensors(read_file(path), "checkpoint");
  for (NamedTensor& tensor : file.tensors) {
    if (tensor.name == name) tensor.values[0] = value;
  }
  write_file_atomically(path, write_safetensors(file));
}

TEST_F(Checkpoint, NumbersThatCannotBeAreRefused) {
  TrainOptions options = trained(2);
  options.resume = true;
  options.num_episodes = 3;
  const std::filesystem::path path = folder_ / "checkpoint.safetensors";
  const std::string good = read_file(path);
  std::string tensor;
  for (const NamedTensor& any : parse_safetensors(good, "checkpoint").tensors) {
    if (any.name.starts_with("parameters/")) tensor = any.name.substr(std::string("parameters/").size());
  }
  const std::tuple<const char*, float> cases[] = {{"parameters/", NAN},
                                                  {"parameters/", HUGE_VALF},
                                                  {"first_moment/", NAN},
                                                  {"second_moment/", HUGE_VALF},
                                                  {"second_moment/", -1.0F}};
  for (const auto& [prefix, value] : cases) {
    write_file_atomically(path, good);
    spoil(path, prefix + tensor, value);
    const std::string before = read_file(path);
    const std::string message = testing::message_of(ErrorCode::kParse, [&] { train(options); });
    EXPECT_NE(message.find(path.string()), std::string::npos) << message;
    EXPECT_NE(message.find("tensor"), std::string::npos) << message;
    EXPECT_EQ(read_file(path), before);  // it stays as it was
  }
}

TEST_F(Checkpoint, ADamagedReplayIsRefused) {
  TrainOptions options = trained(2);
  options.resume = true;
  options.num_episodes = 3;
  const std::filesystem::path path = folder_ / "checkpoint.safetensors";
  const std::string good = read_file(path);
  const std::tuple<const char*, float> cases[] = {
      {"replay/0/samples", 7.0F}, {"replay/1/samples", NAN}, {"replay/0/rows", 1e9F}, {"replay/1/targets", HUGE_VALF}};
  for (const auto& [name, value] : cases) {
    write_file_atomically(path, good);
    spoil(path, name, value);
    testing::expect_error(ErrorCode::kParse, fmt::format("{}: tensors {:.9}...: Experience", path.string(), name),
                          [&] { train(options); });
  }
}

// Numbers of the state as JSON has them; the largest of each could not be counted on.
TEST_F(Checkpoint, CountersThatCannotBeAreRefused) {
  TrainOptions options = trained(2);
  options.resume = true;
  options.num_episodes = 3;
  const std::filesystem::path path = folder_ / "checkpoint.safetensors";
  const TensorFile good = parse_safetensors(read_file(path), "checkpoint");
  for (const char* field : {"num_episodes", "next_number", "num_rejected", "num_steps"}) {
    for (const char* wrong : {"1e300", "1.5", "-1", "9223372036854775808", "null", "\"2\""}) {
      TensorFile file = good;
      std::string& state = file.metadata["state"];
      const std::size_t at = state.find(field) + std::string(field).size() + 2;  // behind the quote and the colon
      state.replace(at, state.find_first_of(",}", at) - at, wrong);
      write_file_atomically(path, write_safetensors(file));
      testing::expect_error(ErrorCode::kParse, std::string(field) + ": allowed is a whole number from 0",
                            [&] { train(options); });
    }
  }
}

}  // namespace
}  // namespace treesample
