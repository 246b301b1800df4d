// The bundled environments by name.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/families/family.hpp"
#include "treesample/program/dag_posterior.hpp"
#include "treesample/program/environments.hpp"
#include "treesample/program/infer_program.hpp"

namespace treesample {
namespace {

using Values = std::map<std::string, std::string>;

ProgramAnswer answer_of(const std::string& name, const Values& values) {
  return infer_program(*make_environment(name, values));
}

std::string error_of(const std::function<void()>& make) {
  try {
    make();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

class BundledFile : public testing::Test {
 protected:
  std::string write(const std::string& text) {
    std::ofstream(file_) << text;
    return file_.string();
  }
  void TearDown() override { std::filesystem::remove(file_); }

 private:
  const std::filesystem::path file_ = std::filesystem::path(testing::TempDir()) / "bundled_environment.csv";
};

TEST(BundledEnvironments, HaveAllTheirObjects) {
  EXPECT_EQ(answer_of("hypergrid", {{"height", "8"}}).num_ends, 4096);
  EXPECT_EQ(answer_of("hypergrid", {{"height", "9"}, {"dimensions", "1"}}).num_ends, 9);
  EXPECT_EQ(answer_of("hypergrid", {{"height", "3"}, {"dimensions", "6"}}).num_ends, 729);
  EXPECT_EQ(answer_of("bits", {{"bits", "16"}, {"word", "4"}}).num_ends, 65'536);
  EXPECT_EQ(answer_of("binding", {{"seed", "3"}}).num_ends, 65'536);
  EXPECT_EQ(answer_of("blocks", {}).num_ends, 161'051);
}

TEST(BundledEnvironments, AFamilyHasTheLogZOfItsModel) {
  for (const std::string& family : family_names()) {
    const ProgramAnswer answer = answer_of(family, {{"n", "4"}, {"seed", "5"}});
    const FactorGraph graph = make_family(family, {.seed = 5, .values = {{"n", 4.0}}}).graph;
    EXPECT_NEAR(*answer.estimate, Elimination(graph, {}, {.goal = EliminationGoal::kLogZ}).log_z(), 1e-9) << family;
  }
}

TEST(BundledEnvironments, EachIsListedWithItsFields) {
  for (const std::string& name : environment_names()) {
    EXPECT_FALSE(environment_summary(name).empty()) << name;
    EXPECT_FALSE(environment_fields(name).empty()) << name;
  }
}

TEST_F(BundledFile, GraphsOfATableHaveThePosteriorOfItsScores) {
  std::string table = "rain,river,\"wind, speed\"\n";
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < 30; ++i) {
    rows.push_back({std::sin(i), std::sin(i) + 0.3 * std::cos(3 * i), std::cos(7 * i)});
    for (const double value : rows.back()) table += fmt::format("{}{}", value == rows.back()[0] ? "" : ",", value);
    table += "\n";
  }
  const auto program = make_environment("dag", {{"file", write(table)}});
  const ProgramAnswer answer = infer_program(*program);
  EXPECT_EQ(answer.num_ends, 25);
  EXPECT_NEAR(*answer.estimate, dag_posterior(bge_scores(rows)).log_z, 1e-9);
  EXPECT_NE(program->text(answer.best->end()).find("\"rain\""), std::string::npos);
}

TEST_F(BundledFile, LabelsAreScoredByBdeu) {
  const NamedScores named = read_dag_scores(write("a,b\nyes,x\nno,y\nyes,x\n"), "bdeu");
  EXPECT_EQ(named.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(named.scores, bdeu_scores({{1, 0}, {0, 1}, {1, 0}}));
}

TEST_F(BundledFile, PermutationsAndTreesAreReadFromFiles) {
  const std::string scores = write("0,1,2\n3,0,4\n5,6,0\n");
  EXPECT_EQ(answer_of("permutations", {{"after", scores}}).num_ends, 6);
  EXPECT_NEAR(answer_of("permutations", {{"after", scores}}).best->log_weight, 9.0, 1e-12);  // 1 -> 2 -> 0
  EXPECT_EQ(answer_of("permutations", {{"after", scores}, {"at", scores}}).num_ends, 6);
  EXPECT_EQ(answer_of("phylogeny", {{"file", write("name,sequence\nman,ACGT\nape,ACGA\ncat,TTGA\n")}}).num_ends, 3);
  EXPECT_EQ(answer_of("table", {{"file", write("s,v\nA,1\nB,3\n")}, {"alphabet", "AB"}}).num_ends, 2);
}

TEST_F(BundledFile, MistakesAreNamed) {
  EXPECT_NE(error_of([] { make_environment("grid"); }).find("environment is 'grid', allowed are hypergrid, bits"),
            std::string::npos);
  EXPECT_EQ(error_of([] {
              make_environment("hypergrid", {{"size", "3"}});
            }),
            "hypergrid: there is no field 'size', allowed are dimensions, height, r0, r1, r2");
  EXPECT_EQ(error_of([] {
              make_environment("hypergrid", {{"height", "x"}});
            }),
            "hypergrid: height is 'x', allowed are whole numbers from 2 to 16384");
  EXPECT_EQ(error_of([] {
              make_environment("hypergrid", {{"r0", "nan"}});
            }),
            "hypergrid: r0 is 'nan', allowed are numbers");
  EXPECT_EQ(error_of([] { make_environment("dag"); }),
            "dag: file is missing: CSV with the names of up to 7 columns in its first line");
  EXPECT_NE(error_of([] { make_environment("ising", {{"seed", "-1"}}); }).find("seed is '-1'"), std::string::npos);
  const std::string file = write("a,b\n1,2\n1\n");
  EXPECT_EQ(error_of([&] { read_dag_scores(file, "bge"); }), file + ":3: has 1 field, and the first line 2");
  write("a,b,c,d,e,f,g,h\n1,2,3,4,5,6,7,8\n2,1,1,1,1,1,1,1\n");
  EXPECT_EQ(error_of([&] {
              make_environment("dag", {{"file", file}});
            }),
            "dag: " + file +
                " has 8 columns, allowed are 1 to 7; dag_posterior and, in Python, dags.posterior take up to 13");
  EXPECT_EQ(error_of([&] { read_dag_scores(file, "best"); }), "score: is 'best', allowed are bge and bdeu");
  EXPECT_EQ(error_of([&] { read_dag_scores(write("a,a\n1,2\n"), "bge"); }), file + ":1: two columns have one name");
  EXPECT_EQ(error_of([&] { read_dag_scores(write("a,b\n"), "bge"); }),
            file + ":1: a table has a header and at least one row");
  EXPECT_EQ(error_of([&] { read_dag_scores(write("a,b\n1,yes\n"), "bge"); }),
            file + ":2: field 2 is 'yes', allowed are numbers; the score bdeu is for labels");
}

}  // namespace
}  // namespace treesample
