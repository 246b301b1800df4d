// The training error shared by both networks, on outputs in panel layout.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/nn/loss.hpp"
#include "treesample/nn/parameters.hpp"

namespace treesample::nn {

inline std::size_t panel_index(int rows, int row, int column) {
  return (static_cast<std::size_t>(column / kPanel) * static_cast<std::size_t>(rows) + static_cast<std::size_t>(row)) *
             kPanel +
         static_cast<std::size_t>(column % kPanel);
}

// `plain` (rows x columns, row-major) from panels of `rows` rows.
inline void copy_outputs(const float* panels, int rows, std::span<float> plain) {
  const int columns = static_cast<int>(plain.size()) / rows;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) plain[r * columns + c] = panels[panel_index(rows, r, c)];
  }
}

struct ErrorRow {
  const float* q = nullptr;
  float* g = nullptr;  // receives the derivative with respect to q; must be zeros before the call
  int rows = 0;
  int row = 0;
  int num_states = 0;
  std::size_t num_samples = 1;  // B
};

// Throws kNumeric for NaN and +inf and for intervals whose ends are in the wrong order, kArgument for too many entries.
inline void check_target(std::span<const float> target, std::span<const float> high, int num_states) {
  check_argument(static_cast<int>(target.size()) <= num_states, "accumulate_gradient",
                 fmt::format("a target has {} entries for {} states", target.size(), num_states));
  check_argument(high.empty() || high.size() == target.size(), "accumulate_gradient",
                 "an interval has more or fewer upper than lower ends");
  for (std::size_t a = 0; a < target.size(); ++a) {
    if (is_log_value(target[a]) && (high.empty() || (high[a] >= target[a] && is_log_value(high[a])))) continue;
    throw Error(
        ErrorCode::kNumeric,
        fmt::format("accumulate_gradient: a target is {}{}, allowed are real numbers and -inf, and no upper end "
                    "below the lower one",
                    target[a], high.empty() ? "" : fmt::format(" to {}", high[a])));
  }
}

// (1 / B) sum of (q(a) - target(a))^2 over those a for which the target is finite. Throws as check_target does. With
// `high` the target is the interval from target(a) to high(a), within which there is no error. The interval is open
// below if target(a) is -inf; nothing is known if high(a) is -inf.
inline double squared_error(const ErrorRow& outputs, std::span<const float> target, std::span<const float> high = {}) {
  check_target(target, high, outputs.num_states);
  const double scale = 1.0 / static_cast<double>(outputs.num_samples);
  double sum = 0.0;
  for (std::size_t a = 0; a < target.size(); ++a) {
    const float top = high.empty() ? target[a] : high[a];
    if (std::isinf(top)) continue;
    const std::size_t at = panel_index(outputs.rows, outputs.row, static_cast<int>(a));
    const auto q = static_cast<double>(outputs.q[at]);
    const double difference = q - std::clamp(q, static_cast<double>(target[a]), static_cast<double>(top));
    sum += difference * difference * scale;
    outputs.g[at] = static_cast<float>(2.0 * scale * difference);
  }
  return sum;
}

// The same for Loss::kPolicy: (1 / B) (sum over a of p(a) log (p(a) / q(a)) + kValueWeight (V_Q - V_T)^2) over the
// actions whose target is finite, with p and q the softmax of T and Q over them.
inline double policy_error(const ErrorRow& outputs, std::span<const float> target) {
  check_target(target, {}, outputs.num_states);
  const auto at = [&](std::size_t a) { return panel_index(outputs.rows, outputs.row, static_cast<int>(a)); };
  std::vector<std::size_t> actions;
  std::vector<double> p, q;
  for (std::size_t a = 0; a < target.size(); ++a) {
    if (std::isinf(target[a])) continue;
    actions.push_back(a);
    p.push_back(static_cast<double>(target[a]));
    q.push_back(static_cast<double>(outputs.q[at(a)]));
  }
  if (actions.empty()) return 0.0;
  const double scale = 1.0 / static_cast<double>(outputs.num_samples);
  const std::vector<double> log_p = p, log_q = q;
  const double value_p = softmax(p, p);
  const double value_q = softmax(q, q);
  const double surplus = value_q - value_p;
  double sum = kValueWeight * surplus * surplus;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    sum += p[i] * (log_p[i] - value_p - log_q[i] + value_q);
    outputs.g[at(actions[i])] = static_cast<float>(scale * (q[i] - p[i] + 2.0 * kValueWeight * surplus * q[i]));
  }
  return sum * scale;
}

// The error of a sample by its loss, for either network.
template <class Sample>
double sample_error(const ErrorRow& outputs, const Sample& sample) {
  return sample.loss == Loss::kPolicy && sample.high.empty() ? policy_error(outputs, sample.target)
                                                             : squared_error(outputs, sample.target, sample.high);
}

// Throws kArgument, and kNumeric for a reward that is not finite.
inline void check_bellman(const BellmanTerm& term, int num_states, bool has_next) {
  check_argument(term.action >= 0 && term.action < num_states && term.num_next >= 0 && term.num_next <= num_states,
                 "accumulate_gradient",
                 fmt::format("a Bellman term has action {} and {} next states, the network {} states", term.action,
                             term.num_next, num_states));
  check_argument(has_next || term.num_next == 0, "accumulate_gradient", "a Bellman term has no row for its next state");
  if (std::isfinite(term.reward) && std::isfinite(term.weight)) return;
  throw Error(ErrorCode::kNumeric, fmt::format("accumulate_gradient: a Bellman term has reward {} and weight {}, "
                                               "allowed are real numbers",
                                               term.reward, term.weight));
}

// (1 / B) weight residual^2 of the edge from row `row` to the next one; adds its derivatives to `g`.
inline double bellman_error(const ErrorRow& outputs, const BellmanTerm& term) {
  check_bellman(term, outputs.num_states, outputs.row + 1 < outputs.rows);
  if (term.weight == 0.0) return 0.0;
  const std::size_t edge = panel_index(outputs.rows, outputs.row, term.action);
  std::vector<double> next;
  for (int a = 0; a < term.num_next; ++a) {
    next.push_back(static_cast<double>(outputs.q[panel_index(outputs.rows, outputs.row + 1, a)]));
  }
  const double value = next.empty() ? 0.0 : softmax(next, next);
  const double residual = term.reward + value - static_cast<double>(outputs.q[edge]);
  const double scale = term.weight / static_cast<double>(outputs.num_samples);
  outputs.g[edge] -= static_cast<float>(2.0 * scale * residual);
  for (int a = 0; a < term.num_next; ++a) {
    outputs.g[panel_index(outputs.rows, outputs.row + 1, a)] += static_cast<float>(2.0 * scale * residual * next[a]);
  }
  return scale * residual * residual;
}

// B: the number of samples, not counting those that only serve the Bellman term of the sample before.
template <class Sample>
std::size_t count_samples(std::span<const Sample> samples) {
  return samples.size() - static_cast<std::size_t>(std::count_if(
                              samples.begin(), samples.end(), [](const Sample& s) { return s.bellman.num_next > 0; }));
}

// The first `most` samples, or one fewer: a sample and the one for its Bellman term are not separated.
template <class Sample>
std::span<const Sample> next_chunk(std::span<const Sample> samples, std::size_t most) {
  std::size_t size = std::min(most, samples.size());
  if (size < samples.size() && samples[size - 1].bellman.num_next > 0) --size;
  return samples.first(size);
}

// `error` plus the loss of all rows of a chunk; `g` gets its derivatives.
template <class Sample>
double add_errors(double error, ErrorRow outputs, std::span<const Sample> chunk) {
  for (outputs.row = 0; outputs.row < outputs.rows; ++outputs.row) {
    error += sample_error(outputs, chunk[static_cast<std::size_t>(outputs.row)]);
  }
  for (outputs.row = 0; outputs.row < outputs.rows; ++outputs.row) {
    error += bellman_error(outputs, chunk[static_cast<std::size_t>(outputs.row)].bellman);
  }
  return error;
}

}  // namespace treesample::nn
