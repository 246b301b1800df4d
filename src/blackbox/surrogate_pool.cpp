#include "blackbox/surrogate_pool.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kReach = 14.0;  // nats below the largest belief
constexpr std::size_t kWalks = 6;

}  // namespace

void SurrogatePool::clear() {
  beliefs_.clear();
  open_.clear();
  largest_.clear();
}

// Beliefs that are smaller than this are not kept.
double SurrogatePool::reach() const { return largest_.empty() ? kNegInf : *largest_.begin() - kReach; }

void SurrogatePool::note(const Assignment& x, double belief) {
  if (belief == kNegInf || belief < reach() || !beliefs_.emplace(x, belief).second) return;
  open_.emplace(-belief, x);
  largest_.insert(belief);
}

void SurrogatePool::add(const std::vector<Assignment>& configurations) {
  std::vector<int> rows;
  for (const Assignment& x : configurations) rows.insert(rows.end(), x.begin(), x.end());
  std::vector<double> beliefs(configurations.size());
  target_.believe(rows, beliefs);
  for (std::size_t i = 0; i < beliefs.size(); ++i) note(configurations[i], beliefs[i]);
}

void SurrogatePool::expand_at(const Assignment& x) {
  const std::vector<int>& num_states = target_.domain().num_states;
  std::size_t count = 0;
  for (const int k : num_states) count += static_cast<std::size_t>(k);
  means_.resize(count);
  target_.predict_neighbours(x, means_);
  open_.erase({-(beliefs_.contains(x) ? beliefs_.at(x) : kNegInf), x});
  Assignment other = x;
  std::size_t place = 0;
  for (std::size_t v = 0; v < x.size(); ++v) {
    for (other[v] = 0; other[v] < num_states[v]; ++other[v], ++place) {
      if (other[v] == x[v] || means_[place] < reach()) continue;
      if (const std::optional<double> known = target_.known(other); known && !target_.noise().is_there)
        means_[place] = *known;
      if (beliefs_.size() < most_) note(other, means_[place]);
    }
    other[v] = x[v];
  }
}

void SurrogatePool::walk(Assignment& at, Random& random) {
  expand_at(at);
  const std::vector<int>& num_states = target_.domain().num_states;
  const double here = means_[static_cast<std::size_t>(at[0])];
  std::vector<double> rates(means_.size());
  std::size_t place = 0;
  for (std::size_t v = 0; v < at.size(); ++v) {
    for (int a = 0; a < num_states[v]; ++a, ++place) {
      rates[place] = a == at[v] || means_[place] == kNegInf ? 0.0 : 1.0 / (1.0 + std::exp(here - means_[place]));
    }
  }
  double sum = 0.0;
  for (const double rate : rates) sum += rate;
  if (!(sum > 0.0)) return;
  auto chosen = static_cast<std::size_t>(random.categorical(rates));
  std::size_t v = 0;
  while (chosen >= static_cast<std::size_t>(num_states[v])) chosen -= static_cast<std::size_t>(num_states[v++]);
  at[v] = static_cast<int>(chosen);
}

void SurrogatePool::expand(int num_expansions, Random& random) {
  for (int i = 0; i < num_expansions && beliefs_.size() < most_; ++i) {
    if (walks_.size() < kWalks && !open_.empty() && i % 2 == 1) {
      auto start = open_.begin();
      std::advance(start, static_cast<std::ptrdiff_t>(random.below(open_.size())));
      walks_.push_back(start->second);
    }
    if (i % 2 == 1 && !walks_.empty()) {
      walk(walks_[static_cast<std::size_t>(i / 2) % walks_.size()], random);
    } else if (!open_.empty()) {
      expand_at(Assignment(open_.begin()->second));
    }
  }
}

std::vector<Configuration> SurrogatePool::best_first(std::size_t most) const {
  std::vector<Configuration> result;
  for (const auto& [x, belief] : beliefs_) result.push_back({x, belief});
  const auto count = static_cast<std::ptrdiff_t>(std::min(most, result.size()));
  std::partial_sort(result.begin(), result.begin() + count, result.end(), [](const auto& a, const auto& b) {
    return a.log_density != b.log_density ? a.log_density > b.log_density : a.x < b.x;
  });
  result.resize(static_cast<std::size_t>(count));
  return result;
}

}  // namespace treesample
