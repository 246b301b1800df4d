// The monotone functions of a model: their known values, guesses of other values, and the bounds that follow for a box.
#pragma once

#include <optional>
#include <vector>

#include "monotone/box.hpp"
#include "monotone/known_values.hpp"
#include "monotone/table_masses.hpp"
#include "monotone/value_guess.hpp"
#include "space/caller.hpp"

namespace treesample {

class MonotoneFunctions {
 public:
  // Keeps references to the graph and the masses.
  MonotoneFunctions(const FactorGraph& graph, const TableMasses& masses, std::uint64_t seed);

  using Question = OracleQuestion;
  struct Cut {
    int variable = -1;
    int state = 0;  // the first state of the second part
  };
  // A box from the point of view of the functions.
  struct View {
    struct Corners {
      std::vector<int> low_states, high_states;  // of the scope
      KnownValues::Bits low, high;
      double lower, upper;  // of the function within the box
    };
    std::vector<Corners> corners;  // by function
    double lower = 0.0, upper = 0.0;
    double magnitude = 0.0;  // of the terms of these sums; it matters because large values of two functions may cancel
  };
  [[nodiscard]] View view(const Box& box) const;

  // Throws as KnownValues::add does.
  void add(const Question& question, const FactorValue& value);
  // The sum of all functions, if it is known.
  [[nodiscard]] std::optional<double> value(std::span<const int> x) const;
  // A function whose value at x is not known.
  [[nodiscard]] std::optional<Question> unknown(std::span<const int> x) const;
  [[nodiscard]] double noise() const;
  [[nodiscard]] std::int64_t num_bits() const;  // sum over the levels of their variables

  // The following are for boxes that are not decided.

  // Asks for the values that are needed before anything else: the largest and the smallest.
  [[nodiscard]] std::optional<Question> first_question(const View& view) const;
  // A cut for which known values decide one part of the box, or bound it much better.
  [[nodiscard]] std::optional<Cut> cut_along_known(const Box& box, const View& view) const;
  // A corner that is likely to settle much of the box or, with `takes_any`, the one that is likely to settle most.
  [[nodiscard]] std::optional<Question> worthwhile_question(const View& view, bool takes_any) const;
  // A cut where the functions are expected to change most; none if none of their variables is left.
  [[nodiscard]] std::optional<Cut> best_cut(const Box& box, const View& view) const;

 private:
  struct Function {
    KnownValues known;
    ValueGuess guess;
    std::vector<int> variables;  // of the scope
    std::vector<int> place_of_bit;
    bool asks_low_first = true;      // true if the tables make that corner the more probable one
    double top = 0.0, bottom = 0.0;  // the largest value and the smallest, if they are known
    bool has_range = false;
  };
  [[nodiscard]] const Function& of(int factor) const { return functions_[index_of_[factor]]; }
  [[nodiscard]] Cut cut_at(const Function& function, int bit) const;
  [[nodiscard]] double guessed(const Function& function, const KnownValues::Bits& x) const;
  [[nodiscard]] double gain(const View& view, std::size_t index, bool is_low) const;
  [[nodiscard]] std::vector<double> shares_in(const Function& function, const Box& box, bool is_below) const;
  // A bound that holds from some levels on, upward or downward.
  struct Known {
    const std::uint64_t* bits;
    bool is_upper;
    const std::vector<double>& log_shares;  // of the box, by bit
  };
  static double add_share(const Function& function, const View::Corners& corners, const Known& known, double log_share,
                          double least, std::vector<int>& missing);
  [[nodiscard]] static double others_lower(const View& view, std::size_t index);

  const FactorGraph* graph_;
  const TableMasses* masses_;
  std::vector<Function> functions_;
  std::vector<int> index_of_;  // by factor; -1 for tables
};

}  // namespace treesample
