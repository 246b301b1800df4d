#include "optimize/root_bound.hpp"

#include <algorithm>
#include <vector>

namespace treesample {
namespace {

class Sweeps {
 public:
  Sweeps(CostNetwork& network, std::span<const int> line, StopCheck& stop)
      : network_(network), line_(line.begin(), line.end()), place_(line.size()), stop_(stop) {}

  bool sweep() {
    for (std::size_t i = 0; i < line_.size(); ++i) place_[line_[i]] = static_cast<int>(i);
    for (const int v : line_) {
      const std::int64_t before = network_.num_steps();
      if (!visit(v)) return false;
      if (stop_.is_asked(network_.num_steps() - before + 10)) return true;
    }
    std::reverse(line_.begin(), line_.end());
    return network_.prune();
  }

 private:
  bool visit(int v) {
    int num_ahead = 0, num_behind = 0;
    for (const CostNetwork::Use& use : network_.uses(v)) {
      if (!network_.project(use.function, use.place)) return false;
      const auto [ahead, behind] = sides(use, v);
      num_ahead += ahead ? 1 : 0;
      num_behind += behind ? 1 : 0;
    }
    if (network_.size(v) == 1 || num_ahead == 0) return true;
    const Cost parts = std::max(num_ahead, num_behind);
    amounts_.clear();
    for (const int s : network_.states(v)) amounts_.push_back(network_.unary(v, s) / parts);
    for (const CostNetwork::Use& use : network_.uses(v)) {
      if (sides(use, v).first) network_.extend(use.function, use.place, amounts_);
    }
    return true;
  }

  // Whether the function has an open variable ahead of v, and one behind it.
  std::pair<bool, bool> sides(const CostNetwork::Use& use, int v) const {
    std::pair<bool, bool> found{false, false};
    for (const CostNetwork::Place& place : network_.places(use.function)) {
      const int u = place.variable;
      if (u == v || network_.size(u) == 1) continue;
      (place_[u] > place_[v] ? found.first : found.second) = true;
    }
    return found;
  }

  CostNetwork& network_;
  std::vector<int> line_, place_;
  StopCheck& stop_;
  std::vector<Cost> amounts_;
};

}  // namespace

bool raise_bottom(CostNetwork& network, std::span<const int> line, const RootBoundOptions& options, StopCheck& stop) {
  Sweeps sweeps(network, line, stop);
  constexpr int kLook = 10;
  Cost before = network.bottom();
  for (int i = 0; i < options.max_sweeps && !stop.is_asked(0); ++i) {
    if (!sweeps.sweep()) return false;
    if (i % kLook != kLook - 1) continue;
    const double gain = static_cast<double>(network.bottom() - before);
    before = network.bottom();
    if (gain < options.least_gain * static_cast<double>(network.top() - before)) break;
  }
  return true;
}

}  // namespace treesample
