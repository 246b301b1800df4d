#include "treesample/nn/safetensors.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "support/expect_error.hpp"
#include "treesample/error.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

TensorFile small_file() {
  return {.metadata = {{"key", "value"}},
          .tensors = {{.name = "b", .shape = {2, 3}, .values = {1, 2, 3, 4, 5, 6}},
                      {.name = "a", .shape = {2}, .values = {-1.5F, 0.25F}}}};
}

std::string with_header(const std::string& header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, '\0');
}

std::string error_of(const std::string& bytes) {
  return testing::message_of(ErrorCode::kParse, [&] { parse_safetensors(bytes, "f"); });
}

TEST(Safetensors, RoundTrip) {
  const TensorFile file = small_file();
  const TensorFile read = parse_safetensors(write_safetensors(file), "f");
  EXPECT_EQ(read.metadata, file.metadata);
  ASSERT_EQ(read.tensors.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read.tensors[i].name, file.tensors[i].name);
    EXPECT_EQ(read.tensors[i].shape, file.tensors[i].shape);
    EXPECT_EQ(read.tensors[i].values, file.tensors[i].values);
  }
}

TEST(Safetensors, BytesAreThoseOfTheFormat) {
  const TensorFile file = {.metadata = {}, .tensors = {{.name = "w", .shape = {1}, .values = {1.0F}}}};
  const std::string header = R"({"w":{"data_offsets":[0,4],"dtype":"F32","shape":[1]}})";
  std::string expected = with_header(header + std::string(8 - header.size() % 8, ' '), 0);
  expected += std::string("\x00\x00\x80\x3f", 4);
  EXPECT_EQ(write_safetensors(file), expected);
}

TEST(Safetensors, EveryTruncationIsAnError) {
  const std::string bytes = write_safetensors(small_file());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_NE(error_of(bytes.substr(0, length)), "") << length << " bytes";
  }
  EXPECT_NE(error_of(bytes + "x"), "");
}

// A changed byte may give another legal file (a name, a number in the data), but never anything else
// than a file or an Error.
TEST(Safetensors, ChangedBytesNeverCrash) {
  const std::string good = write_safetensors(small_file());
  Random random(1, "bytes");
  int errors = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int trial = 0; trial < 20; ++trial) {
      std::string bytes = good;
      bytes[i] = trial < 8 ? static_cast<char>(bytes[i] ^ (1 << trial)) : static_cast<char>(random.below(256));
      try {
        parse_safetensors(bytes, "f");
      } catch (const Error&) {
        ++errors;
      }
    }
  }
  EXPECT_GT(errors, 1000);
}

TEST(Safetensors, HeadersThatLieAreRefused) {
  const auto tensor = [](const std::string& shape, const std::string& offsets, const char* dtype = "F32") {
    return "{\"w\":{\"dtype\":\"" + std::string(dtype) + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets +
           "}}";
  };
  EXPECT_NO_THROW(parse_safetensors(with_header(tensor("[2]", "[0,8]"), 8), "f"));
  for (const std::string& header : {
           tensor("[2]", "[0,12]"),                       // beyond the data
           tensor("[2]", "[0,4]"),                        // shape and bytes differ
           tensor("[2]", "[8,0]"),                        // backwards
           tensor("[-2]", "[0,8]"),                       //
           tensor("[2.0]", "[0,8]"),                      //
           tensor("[4294967296,4294967296,2]", "[0,8]"),  // product passes 2^64
           tensor("2", "[0,8]"),                          //
           tensor("[2]", "[0]"),                          //
           tensor("[2]", "[0,8]", "F64"),                 //
           std::string("{\"w\":{\"dtype\":\"F32\"}}"),    //
           std::string("{\"w\":3}"),                      //
           std::string("[1,2]"),                          //
           std::string("{\"__metadata__\":{\"a\":1}}"),   //
           std::string("{\"__metadata__\":[]}"),          //
           std::string("{}"),                             // data that nobody owns
           std::string(100000, '['),                      //
       }) {
    EXPECT_NE(error_of(with_header(header, 8)), "") << header.substr(0, 80);
  }
  const std::string overlap =
      R"({"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})";
  EXPECT_NE(error_of(with_header(overlap, 8)), "");
  std::string huge = with_header("{}", 0);
  std::memset(huge.data(), 0xff, 8);
  EXPECT_NE(error_of(huge), "");
}

TEST(Safetensors, DeepNestingIsRefusedInEveryField) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  for (const std::string start :
       {"", "{\"w\":", "{\"w\":{\"dtype\":", "{\"w\":{\"shape\":", "{\"__metadata__\":{\"a\":"}) {
    const std::string message = error_of(with_header(start + deep + "}}", 8));
    EXPECT_NE(message.find("the header:1: lists and objects are nested deeper than the allowed 64 levels"),
              std::string::npos)
        << message;
  }
}

TEST(Safetensors, WriterRefusesWhatItCannotName) {
  TensorFile file = small_file();
  file.tensors[1].name = "b";
  EXPECT_THROW(write_safetensors(file), Error);
  file.tensors[1].name = "__metadata__";
  EXPECT_THROW(write_safetensors(file), Error);
  file.tensors[1].name = "c";
  file.tensors[1].shape = {3};
  EXPECT_THROW(write_safetensors(file), Error);
}

}  // namespace
}  // namespace treesample
