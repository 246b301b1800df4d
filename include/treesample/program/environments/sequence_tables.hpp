// Sequences (program/environments/sequences.hpp) whose rewards stand in a table or come from a model.
//
// TFBind8 (65,536 words of DNA, how strongly a protein binds them) and QM9-small (161,051 molecules of five blocks, the
// gap between two energies) are standard tasks of the GFlowNet literature. Their data are not part of this project:
// here are generated tables of the same shape, and `read_sequence_table` reads the originals from a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "treesample/model/factor_graph.hpp"
#include "treesample/program/environments/sequences.hpp"

namespace treesample {

struct SequenceTable {
  std::string alphabet;             // the letter of each number
  int length = 0;                   // of all sequences
  std::vector<double> log_rewards;  // row-major, the last place changing fastest

  [[nodiscard]] double log_reward(std::span<const int> entries) const;
};
Sequences table_sequences(SequenceTable table);

// Like TFBind8: 8 letters of ACGT. Three motifs of 4 to 6 letters, drawn at random with weights for each place, may
// stand anywhere and on either strand; a word binds as strongly as its best motif, plus a little noise. Strengths are
// scaled to 0..1, and R = max(strength, 0.001)^exponent.
SequenceTable binding_table(std::uint64_t seed, double exponent = 10.0);

// Like QM9-small: 5 of 11 blocks. Strengths are the sum of random terms of single blocks, of neighbours and of all
// blocks together through a random network of 24 hidden units. Scaled and raised to a power in the same way.
SequenceTable block_table(std::uint64_t seed, double exponent = 5.0);

// A CSV file with a header and rows SEQUENCE,VALUE: each sequence of the letters once, values at least 0.
// R = max(value / largest, 0.001)^exponent. Throws Error: kIo if the file cannot be read, kParse naming the line.
SequenceTable read_sequence_table(const std::filesystem::path& file, const std::string& alphabet,
                                  double exponent = 1.0);

// Bit sequences (Malkin et al. 2022): `bits` bits, written in words of `word` bits. Modes are drawn from the words
// 00000000, 11111111, 11110000, 00001111 and 00111100, and R(x) = exp(-beta (bits that differ from the nearest mode) /
// bits).
struct BitSequenceOptions {
  int bits = 120;  // a multiple of 8 and of `word`
  int word = 8;    // at most 8
  int num_modes = 60;
  double beta = 3.0;
};
Sequences bit_sequences(const BitSequenceOptions& options, std::uint64_t seed);

// The configurations of a factor graph, variable by variable; the log reward is log_density of the whole. This makes
// environments of the paper's families and of Ising grids (families/family.hpp).
Sequences configuration_sequences(FactorGraph graph);

}  // namespace treesample
