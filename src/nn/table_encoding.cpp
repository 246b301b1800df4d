#include "nn/table_encoding.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "treesample/math/log_domain.hpp"

namespace treesample::nn {
namespace {

constexpr double kLargest = 20.0;
constexpr int kProfile = 8;  // states of a variable that an edge distinguishes

float cut_off(double value) { return static_cast<float>(std::clamp(value, -kLargest, kLargest)); }

double log_mean_exp(std::span<const double> values) {
  return log_sum_exp(values) - std::log(static_cast<double>(values.size()));
}

// The mean of the entries for which all variables of the scope are in the same state; `mean` if there are none.
double mean_of_agreement(const FactorGraph& graph, const Factor& factor, double mean) {
  std::size_t stride = 0;  // from (a, ..., a) to (a + 1, ..., a + 1)
  int num_states = FactorGraph::kMaxStates;
  for (const int v : factor.scope()) {
    stride = stride * static_cast<std::size_t>(graph.num_states(v)) + 1;
    num_states = std::min(num_states, graph.num_states(v));
  }
  double sum = 0.0;
  int count = 0;
  for (int a = 0; a < num_states; ++a) {
    const double value = factor.log_values()[static_cast<std::size_t>(a) * stride];
    if (value == kNegInf) continue;
    sum += value;
    ++count;
  }
  return count == 0 ? mean : sum / count;
}

}  // namespace

Encoding encode_table(const FactorGraph& graph, const Factor& factor) {
  const std::vector<double>& entries = factor.log_values();
  double sum = 0.0;
  double sum_of_squares = 0.0;
  double smallest = 0.0;
  double largest = 0.0;
  double count = 0.0;
  for (const double entry : entries) {
    if (entry == kNegInf) continue;
    smallest = count == 0.0 ? entry : std::min(smallest, entry);
    largest = count == 0.0 ? entry : std::max(largest, entry);
    sum += entry;
    count += 1.0;
  }
  const double mean = count == 0.0 ? 0.0 : sum / count;
  for (const double entry : entries) {
    if (entry != kNegInf) sum_of_squares += (entry - mean) * (entry - mean);
  }
  Encoding encoding = {};
  encoding[0] = cut_off(static_cast<double>(factor.scope().size()));
  encoding[1] = cut_off(log_mean_exp(entries));
  encoding[2] = cut_off(mean);
  encoding[3] = cut_off(count == 0.0 ? 0.0 : std::sqrt(sum_of_squares / count));
  encoding[4] = cut_off(largest);
  encoding[5] = cut_off(smallest);
  encoding[6] = cut_off(1.0 - count / static_cast<double>(entries.size()));
  encoding[7] = cut_off(mean_of_agreement(graph, factor, mean) - mean);
  return encoding;
}

Encoding encode_edge(const FactorGraph& graph, const Factor& factor, int position) {
  Encoding encoding = encode_table(graph, factor);
  const std::vector<double>& entries = factor.log_values();
  const double whole = log_mean_exp(entries);
  if (whole == kNegInf) return encoding;
  const int num_states = graph.num_states(factor.scope()[position]);
  std::size_t inner = 1;  // entries between two states of this variable
  for (std::size_t i = static_cast<std::size_t>(position) + 1; i < factor.scope().size(); ++i) {
    inner *= static_cast<std::size_t>(graph.num_states(factor.scope()[i]));
  }
  std::vector<double> given;
  for (int a = 0; a < std::min(num_states, kProfile); ++a) {
    given.clear();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i / inner % static_cast<std::size_t>(num_states) == static_cast<std::size_t>(a)) given.push_back(entries[i]);
    }
    encoding[kProfile + a] = cut_off(log_mean_exp(given) - whole);
  }
  return encoding;
}

}  // namespace treesample::nn
