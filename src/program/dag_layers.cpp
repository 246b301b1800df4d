#include "treesample/program/dag_layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "math/compensated_sum.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

DagLayers::DagLayers(DagScores scores) : n_(static_cast<int>(scores.size())), scores_(std::move(scores)) {
  check_range("DagLayers", "number of nodes", n_, 1, kMostNodes);
  all_ = (1u << n_) - 1;
  for (std::size_t v = 0; v < scores_.size(); ++v) {
    check_argument(
        scores_[v].size() == all_ + 1u, "DagLayers",
        fmt::format("node {} has {} scores, and there are {} sets of nodes", v, scores_[v].size(), all_ + 1u));
    for (std::size_t set = 0; set <= all_; ++set) {
      if ((set >> v & 1) != 0 || is_log_value(scores_[v][set])) continue;
      throw Error(ErrorCode::kNumeric, fmt::format("DagLayers: scores[{}][{}] is {}, allowed are numbers and -inf", v,
                                                   set, scores_[v][set]));
    }
  }
  // with_[v][u][S]: begins with the sets themselves, then adds those without node b to those with it, for each b.
  with_.assign(static_cast<std::size_t>(n_ * n_) << n_, kNegInf);
  double most = 0.0;
  for (int v = 0; v < n_; ++v) {
    for (int u = 0; u < n_; ++u) {
      double* const sums = with_.data() + index(v, u);
      for (std::uint32_t set = 0; set <= all_; ++set) {
        if ((set >> u & 1) != 0 && (set >> v & 1) == 0) sums[set] = scores_[static_cast<std::size_t>(v)][set];
      }
      for (int b = 0; b < n_; ++b) {
        for (std::uint32_t set = 0; set <= all_; ++set) {
          if ((set >> b & 1) != 0) sums[set] = log_add_exp(sums[set], sums[set & ~(1u << b)]);
        }
      }
      for (std::uint32_t set = 0; set <= all_; ++set) {
        if (sums[set] != kNegInf) most = std::max(most, std::abs(sums[set]));
      }
    }
  }
  // Each sum takes at most 2 n log-additions, each off by eps (|sum| + 4) at most, and a path has one for each node.
  rounding_ = n_ * (2.0 * n_ + 1.0) * kEpsilon * (most + 4.0);
}

double DagLayers::log_sum(int v, std::uint32_t placed, std::uint32_t last) const {
  if (last == 0) return scores_[static_cast<std::size_t>(v)][0];
  double sum = kNegInf;
  for_each_node(last, [&](int u) {
    sum = log_add_exp(sum, log_sum_with(v, u, placed));
    placed &= ~(1u << u);
  });
  return sum;
}

}  // namespace treesample
