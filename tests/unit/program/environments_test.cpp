// The bundled environments against enumeration.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "treesample/error.hpp"
#include "treesample/families/family.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/program/environments/dag_edges.hpp"
#include "treesample/program/environments/hypergrid.hpp"
#include "treesample/program/environments/permutations.hpp"
#include "treesample/program/environments/phylogeny.hpp"
#include "treesample/program/environments/sequence_tables.hpp"
#include "treesample/program/program.hpp"

namespace treesample {
namespace {

template <class Environment>
struct Walked {
  HashedProgram<Environment> program;
  std::vector<StateId> ends;

  // Visits all states; checks that parents() is the inverse of actions(), and that numbers are within their limits.
  explicit Walked(Environment environment) : program(std::move(environment)) {
    using Edge = std::tuple<StateId, int, StateId>;
    std::set<Edge> forward, backward;
    std::vector<Transition> transitions;
    for (StateId id = program.start(); id < program.num_states(); ++id) {
      for (const int entry : program.encode(id)) {
        EXPECT_LT(entry, program.program().num_values());
        EXPECT_GE(entry, program.is_end(id) ? 0 : -1);
      }
      const auto state = program.state(id);
      program.program().parents(
          state, [&](int action, const auto& parent) { backward.emplace(program.id_of(parent), action, id); });
      if (program.is_end(id)) {
        ends.push_back(id);
        continue;
      }
      transitions.clear();
      program.actions(id, transitions);
      EXPECT_FALSE(transitions.empty());
      int last = -1;
      for (const Transition& transition : transitions) {
        EXPECT_GT(transition.action, last) << "actions ascend";
        last = transition.action;
        forward.emplace(id, transition.action, transition.next);
      }
      EXPECT_LT(last, program.program().num_actions());
    }
    EXPECT_EQ(forward, backward);
  }

  // Different objects have different features.
  [[nodiscard]] std::size_t num_encodings() {
    std::set<std::vector<int>> encodings;
    for (const StateId end : ends) encodings.insert(program.encode(end));
    return encodings.size();
  }
  [[nodiscard]] double log_z() {
    std::vector<double> values(ends.size());
    program.rewards(ends, values);
    return log_sum_exp(values);
  }
};

std::vector<std::vector<double>> random_scores(int n, std::size_t size) {
  Random random(3, "scores");
  std::vector<std::vector<double>> scores(static_cast<std::size_t>(n), std::vector<double>(size));
  for (auto& row : scores) {
    for (double& score : row) score = random.normal();
  }
  return scores;
}

TEST(Environments, TheHypergridHasTheSumOfItsModes) {
  Walked walked(Hypergrid<2>(20));
  EXPECT_EQ(walked.ends.size(), 400U);
  EXPECT_EQ(walked.num_encodings(), 400U);
  // 10 of 20 coordinates are outer, 4 of them within a mode.
  EXPECT_NEAR(std::exp(walked.log_z()), 400 * 1e-3 + 100 * 0.5 + 16 * 2.0, 1e-9);
}

TEST(Environments, EveryAcyclicGraphIsReachedOnce) {
  constexpr int kNodes = 4;
  const auto scores = random_scores(kNodes, 16);
  Walked walked(DagEdges{scores});
  EXPECT_EQ(walked.ends.size(), 543U);
  EXPECT_EQ(walked.num_encodings(), 543U);
  // All matrices of edges; acyclic if nodes without parents can be taken away until none is left.
  std::vector<double> values;
  for (int matrix = 0; matrix < 1 << (kNodes * kNodes); ++matrix) {
    std::array<unsigned, kNodes> parents{};
    for (int v = 0; v < kNodes; ++v) parents[static_cast<std::size_t>(v)] = matrix >> (kNodes * v) & 15;
    unsigned left = 15;
    for (int round = 0; round < kNodes; ++round) {
      for (unsigned v = 0; v < kNodes; ++v) {
        if ((parents[v] & left) == 0) left &= ~(1U << v);
      }
    }
    if (left != 0) continue;
    double sum = 0.0;
    for (std::size_t v = 0; v < kNodes; ++v) sum += scores[v][parents[v]];
    values.push_back(sum);
  }
  ASSERT_EQ(values.size(), 543U);
  EXPECT_NEAR(walked.log_z(), log_sum_exp(values), 1e-12);
}

TEST(Environments, PermutationsAreThoseOfTheStandardLibrary) {
  const auto at = random_scores(5, 5), after = random_scores(5, 5);
  Walked walked(Permutations(at, after));
  EXPECT_EQ(walked.ends.size(), 120U);
  std::vector<std::size_t> order = {0, 1, 2, 3, 4};
  std::vector<double> values;
  do {
    double sum = 0.0;
    for (std::size_t i = 0; i < 5; ++i) sum += at[i][order[i]] + (i > 0 ? after[order[i - 1]][order[i]] : 0.0);
    values.push_back(sum);
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_NEAR(walked.log_z(), log_sum_exp(values), 1e-12);
}

TEST(Environments, ThereAreAsManyTreesAsTheFormulaSays) {
  Walked walked(Phylogeny({"ACGT", "ACGA", "TCGA", "TTGA", "TT-C"}));
  EXPECT_EQ(walked.ends.size(), 105U);  // 1 * 3 * 5 * 7
  EXPECT_EQ(walked.num_encodings(), 105U);
}

// Fitch's count is the least over all letters of the inner nodes.
TEST(Environments, ParsimonyIsTheLeastNumberOfMutations) {
  const std::vector<std::string> sequences = {"AC", "AG", "CG", "CC"};
  const Phylogeny phylogeny(sequences);
  struct Tree {
    std::string text;
    std::vector<std::pair<int, int>> edges;  // leaves are 0 to 3, inner nodes 4 to 6
  };
  const std::vector<Tree> trees = {{"((a,b),(c,d))", {{4, 0}, {4, 1}, {5, 2}, {5, 3}, {6, 4}, {6, 5}}},
                                   {"((a,c),(b,d))", {{4, 0}, {4, 2}, {5, 1}, {5, 3}, {6, 4}, {6, 5}}},
                                   {"(((a,d),b),c)", {{4, 0}, {4, 3}, {5, 4}, {5, 1}, {6, 5}, {6, 2}}}};
  for (const Tree& tree : trees) {
    int sum = 0;
    for (std::size_t site = 0; site < 2; ++site) {
      int least = 100;
      for (int inner = 0; inner < 27; ++inner) {
        const std::string letters = {sequences[0][site], sequences[1][site],   sequences[2][site], sequences[3][site],
                                     "ACG"[inner % 3],   "ACG"[inner / 3 % 3], "ACG"[inner / 9]};
        int count = 0;
        for (const auto& [above, below] : tree.edges) {
          count += letters[static_cast<std::size_t>(above)] != letters[static_cast<std::size_t>(below)] ? 1 : 0;
        }
        least = std::min(least, count);
      }
      sum += least;
    }
    EXPECT_EQ(phylogeny.mutations(tree.text), sum) << tree.text;
  }
}

TEST(Environments, ConfigurationsOfAModelHaveItsLogZ) {
  const FactorGraph graph = make_family("factor-graphs-1", {.values = {{"n", 5}, {"k", 3}}}).graph;
  Walked walked(configuration_sequences(graph));
  EXPECT_EQ(walked.ends.size(), 243U);
  std::vector<double> values;
  for (const StateId end : walked.ends) values.push_back(graph.log_density(walked.program.encode(end)));
  EXPECT_NEAR(walked.log_z(), log_sum_exp(values), 1e-12);
}

TEST(Environments, TablesHaveTheShapeOfTheOriginals) {
  const SequenceTable binding = binding_table(1), blocks = block_table(1);
  EXPECT_EQ(binding.log_rewards.size(), 65'536U);
  EXPECT_EQ(blocks.log_rewards.size(), 161'051U);
  for (const SequenceTable* const table : {&binding, &blocks}) {
    EXPECT_EQ(*std::max_element(table->log_rewards.begin(), table->log_rewards.end()), 0.0);
    EXPECT_NEAR(*std::min_element(table->log_rewards.begin(), table->log_rewards.end()),
                std::log(1e-3) * (table == &binding ? 10.0 : 5.0), 1e-9);
  }
  const Sequences words = table_sequences(binding);
  EXPECT_EQ(words.reward(std::string("\0\1\2\3\0\1\2\3", 8)), binding.log_rewards[0b0001101100011011]);
}

TEST(Environments, ABitSequenceThatIsAModeHasRewardOne) {
  // With one letter for each word of 8 bits, all modes of 16 bits are pairs of the five words.
  const Sequences bits = bit_sequences({.bits = 16, .word = 8, .num_modes = 1, .beta = 2.0}, 7);
  int num_modes = 0;
  double least = 0.0;
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const double reward = bits.reward({static_cast<char>(first), static_cast<char>(second)});
      num_modes += reward == 0.0 ? 1 : 0;
      least = std::min(least, reward);
    }
  }
  EXPECT_EQ(num_modes, 1);
  EXPECT_EQ(least, -2.0);  // all bits differ
}

class TableFile : public testing::Test {
 protected:
  std::string error_of(const std::string& text) {
    std::ofstream(path_) << text;
    try {
      read_sequence_table(path_, "AB");
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }
  ~TableFile() override { std::filesystem::remove(path_); }
  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() /
      ("sequence_table_" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
       ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv");
};

TEST_F(TableFile, IsReadInAnyOrder) {
  std::ofstream(path_) << "sequence,value\nBA,3\nAA,1\nBB,4\nAB,0\n";
  const SequenceTable table = read_sequence_table(path_, "AB", 2.0);
  EXPECT_EQ(table.length, 2);
  const std::vector<double> expected = {2 * std::log(0.25), 2 * std::log(1e-3), 2 * std::log(0.75), 0.0};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(table.log_rewards[i], expected[i], 1e-12) << i;
}

TEST_F(TableFile, MistakesAreNamedWithTheirLine) {
  const std::string name = path_.string();
  EXPECT_EQ(error_of("s,v\nA,1\nB,x\n"), name + ":3: the value is 'x', allowed are numbers from 0");
  EXPECT_EQ(error_of("s,v\nA,1\nB,-1\n"), name + ":3: the value is '-1', allowed are numbers from 0");
  EXPECT_EQ(error_of("s,v\nA,1\nA,2\n"), name + ":3: the sequence 'A' is there twice");
  EXPECT_EQ(error_of("s,v\nA,1\nC,2\n"), name + ":3: the sequence 'C' is not of AB");
  EXPECT_EQ(error_of("s,v\nA,1\nBB,2\n"), name + ":3: the sequence 'BB' has 2 letters, the first one has 1");
  EXPECT_EQ(error_of("s,v\nA,1\n"), name + ":2: has 1 sequences, but there are 2 of 1 letters each");
  EXPECT_EQ(error_of("s,v\nA,0\nB,0\n"), name + ":3: all values are 0");
}

TEST(Environments, TextsOfStatesAreJson) {
  const Sequences numbers(256, 3, [](std::span<const int>) { return 0.0; });
  EXPECT_EQ(numbers.text(std::string("\0\xff\2", 3)), "[0, 255, 2]");
  const Sequences letters(
      4, 3, [](std::span<const int>) { return 0.0; }, "ACGT");
  EXPECT_EQ(letters.text(std::string("\0\3", 2)), "\"AT\"");
  EXPECT_EQ(Permutations::text(std::string("\1\0", 2)), "[1, 0]");
  EXPECT_EQ(Permutations::text(""), "[]");
  EXPECT_EQ(Hypergrid<2>::text({3, 1, 1}), "[3, 1]");
  EXPECT_EQ(Phylogeny::text({"(a,b)", "c"}), "[\"(a,b)\", \"c\"]");
  EXPECT_EQ(Phylogeny::text({"((a,b),c)"}), "\"((a,b),c)\"");
  const DagEdges dag({{0, 0, 0, 0}, {0, 0, 0, 0}}, {"\"rain\"", "\"river\""});
  EXPECT_EQ(dag.text(0), "[]");
  EXPECT_EQ(dag.text(2), "[[\"rain\", \"river\"]]");
  EXPECT_EQ(dag.action_text(0, 1), "\"rain\" -> \"river\"");
}

TEST(Environments, MistakesAreNamed) {
  const auto error_of = [](const std::function<void()>& make) -> std::string {
    try {
      make();
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(error_of([] { Hypergrid<2>(1); }), "Hypergrid: height is 1, allowed are 2 to 16384");
  EXPECT_EQ(error_of([] { Phylogeny({"AC", "A"}); }), "Phylogeny: sequence 1 has 1 letters, the first one has 2");
  EXPECT_EQ(error_of([] {
              Phylogeny({"AC", "Ac"});
            }),
            "Phylogeny: sequence 1 has the character 'c', allowed are A to Z and -");
  EXPECT_EQ(error_of([] {
              DagEdges(std::vector<std::vector<double>>{{0.0}, {0.0}});
            }),
            "DagEdges: a node needs a score for each set of parents");
}

}  // namespace
}  // namespace treesample
