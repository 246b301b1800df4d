// Tables over many variables that are made of small ones.
//
// In a noisy-max, each cause x_i proposes a state of the effect with probability f_i(s | x_i), and the effect is the
// largest proposal, or a state of its own (the leak) where that is larger. With z_0 the leak and z_i the largest of the
// proposals so far,
//
//   P(z_i | z_(i-1), x_i) = 0                              z_i < z_(i-1)
//                           sum over s <= z_i of f_i(s)    z_i = z_(i-1)
//                           f_i(z_i)                       z_i > z_(i-1)
//
// and the last z is the effect: a table over k causes is a chain of k tables over three variables (the temporal
// decomposition of Heckerman), without a negative number. With two states it is a noisy-or. Its cumulative sums are
// products, sum over s <= y of T(x, s) = F_0(y) prod_i F_i(y | x_i), by which it is recognised. Where an effect with
// two states was observed, what is left of it is
//
//   T(x) = c prod_i q_i(x_i)         the effect is absent: a product
//   T(x) = a - b prod_i q_i(x_i)     it is present: the chain, whose last z is 1
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace treesample {

struct TableStructure {
  enum class Kind { kProduct, kMax };

  Kind kind = Kind::kProduct;
  double log_scale = 0.0;         // of the table: a factor of all of it
  double log_slack = 0.0;         // the logarithms of its entries differ from those of the table by at most this
  int num_states = 1;             // of z
  int effect = -1;                // its place in the scope; -1 where it was observed, and z is 1 in the end
  std::vector<int> effect_state;  // by state of z
  std::vector<double> start;      // of z_0
  // By place in the scope: f_i(s | x) of state x in [x * num_states + s]. Of a product f_i(x); empty for the effect.
  std::vector<std::vector<double>> steps;

  // The probability of z after the cause at this place in state x, which was `before`.
  [[nodiscard]] double step(int place, int x, int before, int z) const;
};

// Nothing where the table has fewer than three causes, or no such structure within 1e-8 of its logarithms. Row-major,
// the last variable is the fastest.
std::optional<TableStructure> table_structure(std::span<const int> num_states, std::span<const double> log_values);

}  // namespace treesample
