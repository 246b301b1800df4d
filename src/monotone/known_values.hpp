// The known values of a monotone function, and the bounds that follow from them.
//
// States are turned into levels, so that the function increases with each of them: level = state, or K - 1 - state for
// a direction that decreases. A level l of K is K - 1 bits, the first l of which are set; x <= y in all levels then
// means that the bits of x are among those of y. A value v at x implies
//
//   f(y) >= v for all y >= x,      f(y) <= v for all y <= x.
//
// With a witness W the same holds with all levels outside of W lowered to the least, or raised to the largest: as long
// as W keeps its levels, the others do not matter. Values that follow from others are not kept.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

class KnownValues {
 public:
  using Bits = std::vector<std::uint64_t>;

  // `factor` must be a monotone function of the graph. Keeps a reference to the graph.
  KnownValues(const FactorGraph& graph, int factor);

  [[nodiscard]] int factor() const { return factor_; }
  [[nodiscard]] int num_bits() const { return num_bits_; }
  // The first bit of a position in the scope. The bit t - 1 places after it is set from level t on.
  [[nodiscard]] int first_bit(int place) const { return first_bit_[place]; }
  [[nodiscard]] int num_levels(int place) const { return num_levels_[place]; }
  [[nodiscard]] bool is_increasing(int place) const { return directions_[place] == Direction::kIncreasing; }
  [[nodiscard]] int level(int place, int state) const {
    return is_increasing(place) ? state : num_levels_[place] - 1 - state;
  }
  [[nodiscard]] Bits bits(std::span<const int> states) const;  // of the scope

  // Adds a value. Throws Error (kArgument) naming both assignments if it contradicts a known one: the function is then
  // not monotone, or a witness is wrong. Differences as small as rounding are accepted and recorded in noise().
  struct Reach {
    Bits low, high;  // the value is a lower bound from `low` up, and an upper one from `high` down
  };
  Reach add(std::span<const int> states, const FactorValue& value);

  // The largest known lower bound of f at x, and the smallest known upper bound; infinite if nothing is known.
  [[nodiscard]] double lower(const Bits& x) const;
  [[nodiscard]] double upper(const Bits& x) const;
  // f(x), if it is known.
  [[nodiscard]] std::optional<double> value(const Bits& x) const;

  // The largest contradiction between values; all bounds hold only up to this.
  [[nodiscard]] double noise() const { return noise_; }
  [[nodiscard]] bool has_witnesses() const { return has_witnesses_; }

  // Bounds that hold for all x at or above some levels, or at or below them.
  struct Entries {
    std::vector<std::uint64_t> bits;  // num_words() for each entry, one after the other
    std::vector<double> values;
    std::vector<int> answers;
  };
  [[nodiscard]] const Entries& lower_entries() const { return lower_; }
  [[nodiscard]] const Entries& upper_entries() const { return upper_; }
  [[nodiscard]] std::size_t num_words() const { return num_words_; }

 private:
  struct Answer {
    std::vector<int> states;
    FactorValue value;
  };
  [[nodiscard]] int find(const Bits& x, bool is_lower) const;  // the entry with the best bound; -1 if there is none
  void keep(const Bits& x, double value, int answer, bool is_lower);
  void check(const Bits& x, bool is_lower, const Answer& answer);
  [[nodiscard]] std::string described(const Answer& answer) const;

  const FactorGraph* graph_;
  int factor_;
  std::vector<Direction> directions_;
  std::vector<int> first_bit_, num_levels_;  // by place
  int num_bits_ = 0;
  std::size_t num_words_ = 1;
  Entries lower_, upper_;
  std::vector<Answer> answers_;
  double noise_ = 0.0;
  bool has_witnesses_ = false;
};

}  // namespace treesample
