#include "treesample/io/model_file.hpp"

#include "support/expect_error.hpp"
#include "treesample/io/file.hpp"

namespace treesample {
namespace {

using testing::message_of;

class ModelFile : public testing::TemporaryFolder {};

TEST_F(ModelFile, TheExtensionChoosesTheFormat) {
  write_file_atomically(in_folder("m.UAI"), "MARKOV 1 5 0");
  EXPECT_EQ(read_model(in_folder("m.UAI")).num_states(0), 5);
  write_file_atomically(in_folder("m.x.bif"),
                        "variable a { type discrete [ 1 ] { x }; } probability ( a ) { table 1; }");
  EXPECT_EQ(read_model(in_folder("m.x.bif")).variable(0).name, "a");
  write_file_atomically(in_folder("m.json"), R"({"variables": [{"name": "b", "states": 4}], "factors": []})");
  EXPECT_EQ(read_model(in_folder("m.json")).num_states(0), 4);
  EXPECT_EQ(extension_of_text(R"({"variables": [], "factors": []})"), ".json");
  EXPECT_EQ(extension_of_text(R"({"problem": {"name": "n"}})"), ".cfn");
  EXPECT_EQ(extension_of_text("{ problem { n <3}"), ".cfn");
}

TEST_F(ModelFile, UnknownExtensionsAreRefusedWithTheAllowedOnes) {
  EXPECT_EQ(message_of(ErrorCode::kArgument, [] { read_model("dir.uai/model.txt"); }),
            "dir.uai/model.txt: the name of a model file must end in one of: .uai, .bif, .xmlbif, .xml, .xdsl, .net, "
            ".dsc, .fg, .cnf, .wcsp, .cfn, .wcnf, .json");
  EXPECT_EQ(
      message_of(ErrorCode::kArgument, [] { read_model("uai"); }),
      "uai: the name of a model file must end in one of: .uai, .bif, .xmlbif, .xml, .xdsl, .net, .dsc, .fg, .cnf, "
      ".wcsp, .cfn, .wcnf, .json");
  EXPECT_EQ(message_of(ErrorCode::kIo, [&] { read_model("/no/such/model.bif"); }),
            "/no/such/model.bif: cannot be read: No such file or directory");
}

}  // namespace
}  // namespace treesample
