#include "treesample/io/figure.hpp"

#include <cstdlib>
#include <string>

#include "support/expect_error.hpp"
#include "treesample/io/file.hpp"

namespace treesample {
namespace {

namespace fs = std::filesystem;
using testing::message_of;

// Stands in for gnuplot, so that the tests do not depend on it: a shell script, found first.
class FigureFiles : public testing::TemporaryFolder {
 protected:
  void SetUp() override {
    TemporaryFolder::SetUp();
    path_before_ = std::getenv("PATH");
    fs::create_directories(in_folder("bin"));
    fs::create_directories(in_folder("out"));
    setenv("PATH", (in_folder("bin").string() + ":" + path_before_).c_str(), 1);
  }
  void TearDown() override {
    setenv("PATH", path_before_.c_str(), 1);
    TemporaryFolder::TearDown();
  }
  void gnuplot_is(const std::string& commands) {
    write_file_atomically(in_folder("bin/gnuplot"), "#!/bin/sh\n" + commands + "\n");
    fs::permissions(in_folder("bin/gnuplot"), fs::perms::owner_all);
  }
  [[nodiscard]] fs::path out(const std::string& name) const { return in_folder("out") / name; }
  [[nodiscard]] int num_out() const {
    return static_cast<int>(std::distance(fs::directory_iterator(in_folder("out")), {}));
  }

 private:
  std::string path_before_;
};

TEST_F(FigureFiles, BothPicturesAppearBesideTheirScript) {
  gnuplot_is("grep -q plot \"$1\" && echo '<svg></svg>' > x.svg && echo IEND > x.png");
  EXPECT_TRUE(draw_figure(in_folder("out"), "x", "plot 1"));
  EXPECT_EQ(read_file(out("x.gp")), "plot 1");
  EXPECT_EQ(read_file(out("x.svg")), "<svg></svg>\n");
  EXPECT_EQ(num_out(), 3);
}

TEST_F(FigureFiles, PicturesOfAnEarlierRunDoNotPassForNewOnes) {
  write_file_atomically(out("x.svg"), "old");
  gnuplot_is("exit 1");
  EXPECT_FALSE(draw_figure(in_folder("out"), "x", "plot 1"));
  EXPECT_FALSE(fs::exists(out("x.svg")));
  EXPECT_EQ(num_out(), 1);
}

TEST_F(FigureFiles, APictureThatIsNotWholeIsAnErrorAndTheOldOneStays) {
  write_file_atomically(out("x.svg"), "old");
  gnuplot_is("echo '<svg>' > x.svg; echo IEND > x.png");
  EXPECT_EQ(message_of(ErrorCode::kWrite, [&] { draw_figure(in_folder("out"), "x", "plot 1"); }),
            out("x.svg").string() + ": cannot be written: gnuplot's picture is not whole");
  EXPECT_EQ(read_file(out("x.svg")), "old");
  EXPECT_EQ(num_out(), 2);
}

TEST_F(FigureFiles, AFolderThatIsMissingIsAnError) {
  gnuplot_is("true");
  EXPECT_NE(message_of(ErrorCode::kWrite, [&] { draw_figure(in_folder("none"), "x", ""); }).find("none/x.gp"),
            std::string::npos);
}

}  // namespace
}  // namespace treesample
