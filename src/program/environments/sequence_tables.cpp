#include "treesample/program/environments/sequence_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "treesample/io/csv.hpp"
#include "treesample/io/file.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/parse_number.hpp"

namespace treesample {
namespace {

constexpr double kLeastStrength = 1e-3;

// The entries of sequence number `index`.
void write_entries(std::size_t index, int num_letters, std::span<int> entries) {
  for (std::size_t i = entries.size(); i-- > 0; index /= static_cast<std::size_t>(num_letters)) {
    entries[i] = static_cast<int>(index % static_cast<std::size_t>(num_letters));
  }
}

template <class Strength>
SequenceTable scaled_table(const std::string& alphabet, int length, double exponent, Strength strength) {
  check_argument(exponent > 0.0 && std::isfinite(exponent), "exponent",
                 fmt::format("is {}, allowed are numbers above 0", exponent));
  SequenceTable table{.alphabet = alphabet, .length = length, .log_rewards = {}};
  const int letters = static_cast<int>(alphabet.size());
  table.log_rewards.resize(static_cast<std::size_t>(std::pow(letters, length)));
  std::vector<int> entries(static_cast<std::size_t>(length));
  for (std::size_t i = 0; i < table.log_rewards.size(); ++i) {
    write_entries(i, letters, entries);
    table.log_rewards[i] = strength(entries);
  }
  const auto [least, most] = std::minmax_element(table.log_rewards.begin(), table.log_rewards.end());
  const double low = *least, range = *most - *least;
  for (double& value : table.log_rewards) {
    value = exponent * std::log(std::max((value - low) / range, kLeastStrength));
  }
  return table;
}

// Weights of each letter at each place of a motif: one letter is preferred.
struct Motif {
  int length = 0;
  std::vector<double> weights;
};

Motif random_motif(Random& random) {
  Motif motif{.length = 4 + static_cast<int>(random.below(3)), .weights = {}};
  for (int i = 0; i < motif.length; ++i) {
    const auto preferred = random.below(4);
    for (std::uint64_t letter = 0; letter < 4; ++letter) {
      motif.weights.push_back(letter == preferred ? 1.0 : -0.5 + 0.3 * random.normal());
    }
  }
  return motif;
}

double best_match(const Motif& motif, std::span<const int> word) {
  double best = -HUGE_VAL;
  for (std::size_t at = 0; at + static_cast<std::size_t>(motif.length) <= word.size(); ++at) {
    double sum = 0.0;
    for (std::size_t i = 0; 4 * i < motif.weights.size(); ++i) {
      sum += motif.weights[4 * i + static_cast<std::size_t>(word[at + i])];
    }
    best = std::max(best, sum);
  }
  return best;
}

}  // namespace

double SequenceTable::log_reward(std::span<const int> entries) const {
  std::size_t index = 0;
  for (const int entry : entries) index = index * alphabet.size() + static_cast<std::size_t>(entry);
  return log_rewards[index];
}

Sequences table_sequences(SequenceTable table) {
  const auto shared = std::make_shared<const SequenceTable>(std::move(table));
  return {static_cast<int>(shared->alphabet.size()), shared->length,
          [shared](std::span<const int> entries) { return shared->log_reward(entries); }, shared->alphabet};
}

SequenceTable binding_table(std::uint64_t seed, double exponent) {
  Random random(seed, "binding table");
  std::vector<Motif> motifs;
  for (int m = 0; m < 3; ++m) motifs.push_back(random_motif(random));
  return scaled_table("ACGT", 8, exponent, [&](std::span<const int> word) {
    std::vector<int> other(word.rbegin(), word.rend());  // the other strand: A binds T, C binds G
    for (int& letter : other) letter = 3 - letter;
    double strength = -HUGE_VAL;
    for (const Motif& motif : motifs) {
      strength = std::max({strength, best_match(motif, word), best_match(motif, other)});
    }
    return strength + 0.1 * random.normal();
  });
}

SequenceTable block_table(std::uint64_t seed, double exponent) {
  constexpr std::size_t kBlocks = 11, kLength = 5, kHidden = 24;
  Random random(seed, "block table");
  const auto draw = [&](std::size_t count) {
    std::vector<double> values(count);
    for (double& value : values) value = random.normal();
    return values;
  };
  const std::vector<double> single = draw(kLength * kBlocks), pair = draw(kBlocks * kBlocks);
  const std::vector<double> in = draw(kHidden * kLength * kBlocks), out = draw(kHidden);
  return scaled_table("ABCDEFGHIJK", kLength, exponent, [&](std::span<const int> entries) {
    const std::vector<std::size_t> blocks(entries.begin(), entries.end());
    double strength = 0.0;
    for (std::size_t i = 0; i < kLength; ++i) {
      strength += single[i * kBlocks + blocks[i]];
      if (i > 0) strength += 0.7 * pair[blocks[i - 1] * kBlocks + blocks[i]];
    }
    for (std::size_t h = 0; h < kHidden; ++h) {
      double sum = 0.0;
      for (std::size_t i = 0; i < kLength; ++i) sum += in[(h * kLength + i) * kBlocks + blocks[i]];
      strength += 0.4 * out[h] * std::tanh(sum);
    }
    return strength;
  });
}

SequenceTable read_sequence_table(const std::filesystem::path& file, const std::string& alphabet, double exponent) {
  check_argument(!alphabet.empty(), "read_sequence_table", "the alphabet is empty");
  const std::string name = file.string();
  const std::vector<CsvRow> rows = parse_csv(read_file(file), name);
  const auto fail = [&](std::size_t line, const std::string& what) {
    throw Error(ErrorCode::kParse, fmt::format("{}:{}: {}", name, line, what));
  };
  if (rows.size() < 2) fail(1, "has no sequences below its header");
  SequenceTable table{.alphabet = alphabet, .length = static_cast<int>(rows[1].fields[0].size()), .log_rewards = {}};
  const double size = std::pow(static_cast<double>(alphabet.size()), table.length);
  if (size != static_cast<double>(rows.size() - 1)) {
    fail(rows.back().line,
         fmt::format("has {} sequences, but there are {} of {} letters each", rows.size() - 1, size, table.length));
  }
  table.log_rewards.assign(rows.size() - 1, kNegInf);
  std::vector<bool> is_given(table.log_rewards.size());
  double most = 0.0;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    const auto& [fields, line] = rows[r];
    if (fields.size() != 2) fail(line, fmt::format("has {} fields, allowed are 2: sequence, value", fields.size()));
    if (std::ssize(fields[0]) != table.length) {
      fail(line, fmt::format("the sequence '{}' has {} letters, the first one has {}", fields[0], fields[0].size(),
                             table.length));
    }
    std::size_t index = 0;
    for (const char letter : fields[0]) {
      const std::size_t number = alphabet.find(letter);
      if (number == std::string::npos) fail(line, fmt::format("the sequence '{}' is not of {}", fields[0], alphabet));
      index = index * alphabet.size() + number;
    }
    if (is_given[index]) fail(line, fmt::format("the sequence '{}' is there twice", fields[0]));
    const std::optional<double> value = parse_real(fields[1]);
    if (!value || !std::isfinite(*value) || *value < 0.0) {
      fail(line, fmt::format("the value is '{}', allowed are numbers from 0", fields[1]));
    }
    is_given[index] = true;
    most = std::max(most, *value);
    table.log_rewards[index] = *value;
  }
  if (most == 0.0) fail(rows.back().line, "all values are 0");
  for (double& value : table.log_rewards) value = exponent * std::log(std::max(value / most, kLeastStrength));
  return table;
}

Sequences bit_sequences(const BitSequenceOptions& options, std::uint64_t seed) {
  check_range("BitSequenceOptions", "word", options.word, 1, 8);
  check_range("BitSequenceOptions", "bits", options.bits, 8, 1 << 14);
  check_argument(options.bits % 8 == 0 && options.bits % options.word == 0, "BitSequenceOptions",
                 fmt::format("bits is {}, allowed are multiples of 8 and of the word, {}", options.bits, options.word));
  check_range("BitSequenceOptions", "num_modes", options.num_modes, 1, 1 << 20);
  static constexpr unsigned char kWords[] = {0b00000000, 0b11111111, 0b11110000, 0b00001111, 0b00111100};
  Random random(seed, "bit sequences");
  std::vector<std::vector<char>> modes(static_cast<std::size_t>(options.num_modes));
  for (auto& mode : modes) {
    for (int i = 0; i < options.bits / 8; ++i) {
      const unsigned char word = kWords[random.below(std::size(kWords))];
      for (int b = 7; b >= 0; --b) mode.push_back(static_cast<char>(word >> b & 1));
    }
  }
  return {1 << options.word, options.bits / options.word, [modes, options](std::span<const int> words) {
            int nearest = options.bits;
            for (const auto& mode : modes) {
              int distance = 0;
              for (int i = 0; i < options.bits; ++i) {
                const int bit =
                    words[static_cast<std::size_t>(i / options.word)] >> (options.word - 1 - i % options.word) & 1;
                distance += bit != mode[static_cast<std::size_t>(i)] ? 1 : 0;
              }
              nearest = std::min(nearest, distance);
            }
            return -options.beta * nearest / options.bits;
          }};
}

Sequences configuration_sequences(FactorGraph graph) {
  std::vector<int> num_states;
  for (int v = 0; v < graph.num_variables(); ++v) num_states.push_back(graph.num_states(v));
  const auto shared = std::make_shared<const FactorGraph>(std::move(graph));
  return {num_states, [shared](std::span<const int> x) { return shared->log_density(x); }};
}

}  // namespace treesample
