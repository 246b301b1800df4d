#include "treesample/nn/network_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "support/expect_error.hpp"
#include "treesample/error.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

Gnn small_gnn() {
  Random random(1, "file");
  return Gnn({.kinds = {"not", "table"}, .num_states = 3, .iterations = 2}, random);
}

Mlp small_mlp() {
  Random random(2, "file");
  return Mlp({.num_variables = 3, .num_states = 2, .hidden = {16, 32}}, random);
}

std::string message_of(const TensorFile& file) {
  return testing::message_of(ErrorCode::kParse, [&] { parse_network(file, "x.safetensors"); });
}

TEST(NetworkFile, GnnRoundTrip) {
  const Gnn network = small_gnn();
  const auto path = std::filesystem::path(::testing::TempDir()) / "treesample_gnn_round_trip.safetensors";
  save_network(path, network_tensors(network, {{"training.episodes", "12"}}));
  const NetworkFile file = load_network(path);
  std::filesystem::remove(path);
  const Gnn& loaded = std::get<Gnn>(file.network);
  EXPECT_EQ(loaded.options(), network.options());
  EXPECT_EQ(file.metadata.at("training.episodes"), "12");
  EXPECT_FALSE(file.metadata.at("library_version").empty());
  EXPECT_TRUE(std::ranges::equal(loaded.parameters().values(), network.parameters().values()));
}

TEST(NetworkFile, AGlobalValueIsKeptAndFilesWithoutOneSayNothingOfIt) {
  EXPECT_FALSE(network_tensors(small_gnn()).metadata.contains("global_after"));
  Random random(4, "file");
  const Gnn network({.kinds = {"not"}, .num_states = 2, .iterations = 3, .global_after = 2}, random);
  TensorFile file = network_tensors(network);
  EXPECT_EQ(file.metadata.at("global_after"), "2");
  const NetworkFile back = parse_network(parse_safetensors(write_safetensors(file), "memory"), "memory");
  EXPECT_EQ(std::get<Gnn>(back.network).options(), network.options());
  EXPECT_TRUE(std::ranges::equal(std::get<Gnn>(back.network).parameters().values(), network.parameters().values()));
  file.metadata["global_after"] = "3";  // there is nothing after the last iteration
  EXPECT_THROW(parse_network(file, "memory"), Error);
  file.metadata.erase("global_after");
  EXPECT_THROW(parse_network(file, "memory"), Error);
}

TEST(NetworkFile, MlpRoundTrip) {
  const Mlp network = small_mlp();
  const TensorFile tensors = parse_safetensors(write_safetensors(network_tensors(network)), "memory");
  const NetworkFile file = parse_network(tensors, "memory");
  const Mlp& loaded = std::get<Mlp>(file.network);
  EXPECT_EQ(loaded.options().hidden, network.options().hidden);
  EXPECT_TRUE(std::ranges::equal(loaded.parameters().values(), network.parameters().values()));
}

TEST(NetworkFile, ErrorsNameFileTensorAndShapes) {
  const TensorFile good = network_tensors(small_gnn());
  TensorFile file = good;
  file.tensors[0].name = "edge.other";
  EXPECT_EQ(message_of(file), "x.safetensors: tensor 'edge.not.to_factor.layer0.weight' is missing");
  file = good;
  std::swap(file.tensors[0].shape[0], file.tensors[0].shape[1]);
  EXPECT_EQ(message_of(file),
            "x.safetensors: tensor 'edge.not.to_factor.layer0.weight' has shape [16, 51], expected is [51, 16]");
  file = good;
  file.tensors[2].values[5] = NAN;
  EXPECT_NE(message_of(file).find("entry 5 is nan"), std::string::npos);
  file = good;
  file.tensors.pop_back();
  EXPECT_NE(message_of(file).find("the metadata describes a network with"), std::string::npos);
  file = good;
  file.tensors.push_back({.name = "more", .shape = {0}, .values = {}});
  EXPECT_EQ(message_of(file), "x.safetensors: tensor 'more' is not part of this network");
}

TEST(NetworkFile, MetadataIsChecked) {
  const TensorFile good = network_tensors(small_mlp());
  const auto with = [&](const std::string& key, const std::string& value) {
    TensorFile file = good;
    file.metadata[key] = value;
    return message_of(file);
  };
  EXPECT_NE(with("format", "other").find("'format' is 'other'"), std::string::npos);
  EXPECT_NE(with("format_version", "2").find("'format_version' is '2'"), std::string::npos);
  EXPECT_NE(with("architecture", "cnn").find("known are 'mlp' and 'gnn'"), std::string::npos);
  EXPECT_NE(with("num_states", "2x").find("expected is an integer"), std::string::npos);
  EXPECT_NE(with("num_states", "3").find("entries"), std::string::npos);
  EXPECT_NE(with("hidden", "[16,").find("metadata 'hidden':1: not JSON"), std::string::npos);
  EXPECT_NE(with("hidden", "{\"a\": [16]}").find("allowed is an array, found an object of 1 field"), std::string::npos);
  for (const char* wrong : {"[16.5]", "[4294967312]", "[1e300]", "[-16]", "[true]", "[\"16\"]"}) {  // 2^32 + 16
    EXPECT_NE(with("hidden", wrong).find("metadata 'hidden': [0]: allowed is a whole number"), std::string::npos);
  }
  EXPECT_NE(with("hidden", std::string(100'000, '[')).find("deeper than the allowed 64 levels"), std::string::npos);
  EXPECT_NE(with("hidden", "[17]").find("multiples of 16"), std::string::npos);
  // Far larger than the file: refused before memory is taken.
  EXPECT_NE(with("hidden", "[16384,16384,16384,16384,16384]").find("describes a network with"), std::string::npos);
  TensorFile file = good;
  file.metadata.erase("hidden");
  EXPECT_EQ(message_of(file), "x.safetensors: the metadata has no 'hidden'");
  EXPECT_THROW(network_tensors(small_mlp(), {{"hidden", "[]"}}), Error);
}

}  // namespace
}  // namespace treesample
