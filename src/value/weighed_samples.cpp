#include "value/weighed_samples.hpp"

#include <algorithm>
#include <cmath>

#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// A network answers several rows in little more time than one. At most this many are drawn in vain when the budget
// ends.
constexpr int kRows = 16;

std::vector<WeighedSample> drawn(const SearchSpace& space, const LeafValue& of, int count, Random& random) {
  const std::size_t width = space.levels.size();
  std::vector<int> states(static_cast<std::size_t>(count) * width, -1);
  std::vector<WeighedSample> samples(static_cast<std::size_t>(count));
  std::vector<double> q;
  for (const Level& level : space.levels) {
    const auto num_states = static_cast<std::size_t>(level.num_states);
    q.resize(samples.size() * num_states);
    of.q_values(static_cast<int>(&level - space.levels.data()), states, count, q);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      WeighedSample& sample = samples[i];
      const std::span<double> p = std::span(q).subspan(i * num_states, num_states);
      sample.values.push_back(softmax(p, p));
      if (sample.values.back() == kNegInf) std::fill(p.begin(), p.end(), 1.0 / static_cast<double>(num_states));
      const int state = random.categorical(p);
      states[i * width + static_cast<std::size_t>(level.variable)] = state;
      sample.log_probs.push_back(std::log(p[static_cast<std::size_t>(state)]));
      for (std::size_t a = 0; a < num_states; ++a) {
        sample.innovations.push_back((static_cast<int>(a) == state ? 1.0 : 0.0) - p[a]);
      }
    }
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto begin = states.begin() + static_cast<std::ptrdiff_t>(i * width);
    samples[i].path.x.assign(begin, begin + static_cast<std::ptrdiff_t>(width));
  }
  return samples;
}

void pay(const SearchSpace& space, PaidRewards& rewards, WeighedSample& sample) {
  double log_weight = 0.0;
  for (int n = 0; n < space.num_levels() && log_weight != kNegInf; ++n) {
    const std::optional<KnownPath::Step> step = rewards.at(n, sample.path.x);
    if (!step) return;
    sample.path.steps.push_back(*step);
    log_weight += step->reward - sample.log_probs[static_cast<std::size_t>(n)];
  }
  sample.log_weight = log_weight;
}

}  // namespace

std::optional<KnownPath::Step> PaidRewards::at(int level, std::span<const int> x) {
  if (level == 0) node_ = 0;
  const auto [edge, is_new] =
      edges_.try_emplace({node_, x[static_cast<std::size_t>(space_.levels[level].variable)]}, Edge{});
  if (is_new) {
    const Spending price = reward_.price(level);
    const bool is_allowed = budget_.allows(price) && spent().in(budget_.unit()) + price.in(budget_.unit()) <= most_;
    const std::optional<double> paid = is_allowed ? reward_.try_evaluate(level, x, budget_) : std::nullopt;
    if (!paid) {
      edges_.erase(edge);
      is_over_ = true;
      return {};
    }
    edge->second = {++num_nodes_, {*paid, reward_.magnitude()}};
  }
  node_ = edge->second.node;
  return edge->second.step;
}

int PaidRewards::most_samples() const {
  const double left = std::min(static_cast<double>(budget_.limit()), most_) - spent().in(budget_.unit());
  double price = 0.0;
  for (int n = 0; n < space_.num_levels(); ++n) price += reward_.price(n).in(budget_.unit());
  return price > 0.0 ? static_cast<int>(std::clamp(left / price, 1.0, 1e6)) : kRows;
}

std::vector<WeighedSample> weighed_samples(const SearchSpace& space, const LeafValue& of, int count,
                                           PaidRewards& rewards, Random& random) {
  std::vector<WeighedSample> samples;
  while (static_cast<int>(samples.size()) < count && !rewards.is_over()) {
    const int rows = std::min({kRows, count - static_cast<int>(samples.size()), rewards.most_samples()});
    for (WeighedSample& sample : drawn(space, of, rows, random)) {
      if (rewards.is_over()) break;
      pay(space, rewards, sample);
      samples.push_back(std::move(sample));
    }
  }
  return samples;
}

}  // namespace treesample
