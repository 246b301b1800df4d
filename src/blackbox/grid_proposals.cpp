#include "blackbox/grid_proposals.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr std::size_t kMostCandidates = 4096;  // for which standard deviations are computed
constexpr std::size_t kQueue = 512;
constexpr double kWalk = 0.7;  // neighbours: mass to this power

double gumbel(Random& random) { return -std::log(-std::log(random.uniform() + 1e-300) + 1e-300); }

}  // namespace

GridProposals::GridProposals(const LearnedTarget& target, std::span<const std::string> without) : target_(target) {
  const std::vector<int>& num_states = target.domain().num_states;
  strides_.resize(num_states.size());
  std::size_t size = 1;
  for (std::size_t v = num_states.size(); v-- > 0;) {
    strides_[v] = size;
    size *= static_cast<std::size_t>(num_states[v]);
  }
  is_open_.assign(size, 1);
  is_new_.assign(size, 1);
  tables_.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    tables_[i] = target.tables_alone(at(i));
    if (tables_[i] == kNegInf) close(i);
    has_tables_ = has_tables_ || tables_[i] != tables_[0];
  }
  const auto add = [&](Way way, const char* name, double first, double least) {
    if (std::find(without.begin(), without.end(), name) != without.end()) return;
    ways_.push_back(way);
    shares_.add(name, first, least);
  };
  add(kLikely, "likely", 0.6, 0.2);
  add(kFlat, "flat", 0.2, 0.1);
  add(kNeighbours, "neighbours", 0.2, 0.02);
  if (has_tables_) add(kTables, "tables", 0.1, 0.0);
  add(kUniform, "uniform", 0.0, 0.06);
  queues_.resize(kUniform + 1);
}

std::size_t GridProposals::place_of(std::span<const int> x) const {
  std::size_t place = 0;
  for (std::size_t v = 0; v < x.size(); ++v) place += strides_[v] * static_cast<std::size_t>(x[v]);
  return place;
}

Assignment GridProposals::at(std::size_t place) const {
  Assignment x;
  for (const std::size_t stride : strides_) {
    x.push_back(static_cast<int>(place / stride));
    place %= stride;
  }
  return x;
}

void GridProposals::note(std::size_t place, double log_density, int proposer) {
  close(place);
  if (log_density != kNegInf) told_.emplace_back(log_density, place);
  if (is_noisy_ && log_density != kNegInf) is_open_[place] = 1;
  if (proposer >= 0) shares_.note_gain(proposer, std::exp(std::min(0.0, log_density - top_)));
  top_ = std::max(top_, log_density);
}

void GridProposals::set_noisy() {
  is_noisy_ = true;
  for (const auto& [log_density, place] : told_) is_open_[place] = 1;
}

// The largest of log weight + Gumbel noise are draws without replacement.
void GridProposals::queue_by(Way way, std::span<const double> log_weights, Random& random) {
  std::vector<std::pair<double, std::size_t>> keys;
  double top = kNegInf;
  for (std::size_t i = 0; i < log_weights.size(); ++i) {
    if (is_open(i)) top = std::max(top, log_weights[i]);
  }
  const double least = top - 30.0;
  for (std::size_t i = 0; i < log_weights.size(); ++i) {
    if (is_open(i) && log_weights[i] > least) keys.emplace_back(log_weights[i] + gumbel(random), i);
  }
  const std::size_t most = std::min(kQueue, keys.size());
  std::partial_sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(most), keys.end(), std::greater<>());
  for (std::size_t i = 0; i < most; ++i) queues_[way].push_back(keys[i].second);
}

std::vector<double> GridProposals::optimistic(std::span<const double> means, double noise_sd) const {
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < means.size(); ++i) {
    if (is_open(i)) candidates.push_back(i);
  }
  const std::size_t most = std::min(kMostCandidates, candidates.size());
  std::nth_element(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(most) - (most > 0 ? 1 : 0),
                   candidates.end(), [&](std::size_t a, std::size_t b) { return means[a] > means[b]; });
  std::vector<int> rows;
  const std::size_t step = std::max<std::size_t>(1, (candidates.size() - most) / 512);
  std::vector<std::size_t> chosen(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(most));
  const std::size_t num_top = chosen.size();
  for (std::size_t i = most; i < candidates.size(); i += step) chosen.push_back(candidates[i]);
  for (const std::size_t place : chosen) {
    const Assignment x = at(place);
    rows.insert(rows.end(), x.begin(), x.end());
  }
  std::vector<Prediction> predicted(chosen.size());
  target_.predict(rows, predicted);
  double usual = 0.0;
  for (std::size_t i = num_top; i < chosen.size(); ++i) {
    usual += predicted[i].sd / static_cast<double>(chosen.size() - num_top);
  }
  std::vector<double> scores(means.begin(), means.end());
  for (double& score : scores) score += usual;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const double sd = predicted[i].sd;
    scores[chosen[i]] = predicted[i].mean + sd;
    if (noise_sd > 0.0) scores[chosen[i]] += std::log(1.0 - noise_sd / std::hypot(sd, noise_sd) + 1e-12);
  }
  return scores;
}

void GridProposals::plan(std::span<const double> means, bool has_guess, double noise_sd, Random& random) {
  for (auto& queue : queues_) queue.clear();
  if (has_guess) {
    const std::vector<double> scores = optimistic(means, noise_sd);
    queue_by(kLikely, scores, random);
    std::vector<double> flat = scores;
    for (double& score : flat) score *= 0.5;
    queue_by(kFlat, flat, random);
  } else {
    std::vector<double> flat = tables_;
    for (double& score : flat) score *= 0.5;
    queue_by(kLikely, flat, random);
  }
  if (!has_tables_) return;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < size(); ++i) {
    if (is_new(i)) order.push_back(i);
  }
  const auto most = static_cast<std::ptrdiff_t>(std::min(kQueue, order.size()));
  std::partial_sort(order.begin(), order.begin() + most, order.end(),
                    [&](std::size_t a, std::size_t b) { return tables_[a] > tables_[b]; });
  queues_[kTables].assign(order.begin(), order.begin() + most);
}

std::optional<std::size_t> GridProposals::neighbour(Random& random) {
  if (told_.empty()) return {};
  std::vector<double> weights;
  for (const auto& [log_density, place] : told_) weights.push_back(std::exp(kWalk * (log_density - top_)));
  const std::vector<int>& num_states = target_.domain().num_states;
  for (int tries = 0; tries < 30; ++tries) {
    const std::size_t from = told_[random.categorical(weights)].second;
    const auto v = static_cast<std::size_t>(random.below(strides_.size()));
    const auto count = static_cast<std::size_t>(num_states[v]);
    const std::size_t old = from / strides_[v] % count, state = random.below(count);
    const std::size_t place = from - old * strides_[v] + state * strides_[v];
    if (is_new(place)) return place;
  }
  return {};
}

std::optional<std::size_t> GridProposals::any(Random& random) {
  const std::size_t start = random.below(size());
  for (std::size_t i = 0; i < size(); ++i) {
    const std::size_t place = (start + i) % size();
    if (is_new(place)) return place;
  }
  return {};
}

std::optional<GridProposals::Proposal> GridProposals::next(Random& random) {
  const auto take = [&](int proposer) -> std::optional<std::size_t> {
    const int way = ways_[proposer];
    if (way == kNeighbours) return neighbour(random);
    if (way == kUniform) return any(random);
    std::deque<std::size_t>& queue = queues_[way];
    while (!queue.empty()) {
      const std::size_t place = queue.front();
      queue.pop_front();
      if (is_open(place)) return place;
    }
    return {};
  };
  for (int tries = 0; tries < 20; ++tries) {
    const int proposer = shares_.pick(random);
    if (const auto place = take(proposer)) {
      shares_.note_proposed(proposer);
      close(*place);
      return Proposal{*place, proposer};
    }
  }
  if (const auto place = any(random)) {
    close(*place);
    return Proposal{*place, -1};
  }
  return {};
}

}  // namespace treesample
