#include "value/mini_bucket_passes.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "treesample/math/log_domain.hpp"
#include "treesample/math/vector_math.hpp"

namespace treesample {
namespace {

constexpr double kSmallestWeight = 1e-3;
// Larger shifts would lose the digits of the bound. They occur only if a lower bound extrapolates.
constexpr double kLargestShift = 1e8;
// Measured on 14 models. With a whole step from the second pass on, models with many zeros overshoot and recover late.
// A weight step of 1 needs 4 times the passes; one of 30 overshoots on all models.
constexpr double kFirstStep = 0.5;
constexpr double kStepGrowth = 1.2;
constexpr double kUpperWeightStep = 5.0;
constexpr double kLowerWeightStep = 2.0;

double largest_magnitude(std::span<const double> values) {
  double largest = 0.0;
  for (const double value : values) largest = value == kNegInf ? largest : std::max(largest, std::abs(value));
  return largest;
}

}  // namespace

MiniBucketPasses::MiniBucketPasses(const FactorGraph& graph, const MiniBucketPlan& plan, Side side)
    : graph_(graph), plan_(plan), side_(side), tables_(plan.clusters.size()), from_above_(plan.clusters.size()) {
  for (const MiniBucketPlan::Bucket& bucket : plan_.buckets) {
    for (int c = bucket.first; c < bucket.first + bucket.count; ++c) {
      tables_[c].message.resize(num_table_entries(graph, plan_.clusters[c].separator()));
      if (bucket.count == 1) continue;
      tables_[c].shift.assign(num_table_entries(graph, plan_.clusters[c].shift_scope), 0.0);
      if (side_ == Side::kUpper) {
        tables_[c].weight = 1.0 / bucket.count;
      } else {
        // The first cluster has the widest scope and gets the positive weight.
        tables_[c].weight = c == bucket.first ? 2.0 : -1.0 / (bucket.count - 1);
      }
    }
  }
}

std::vector<TableView> MiniBucketPasses::inputs(int c) const {
  const MiniBucketPlan::Cluster& cluster = plan_.clusters[c];
  std::vector<TableView> result;
  for (const int m : cluster.factors) {
    result.push_back({graph_.factor(m).scope(), graph_.factor(m).log_values().data()});
  }
  for (const int child : cluster.children) {
    result.push_back({plan_.clusters[child].separator(), tables_[child].message.data()});
  }
  if (!tables_[c].shift.empty()) result.push_back({cluster.shift_scope, tables_[c].shift.data()});
  return result;
}

bool MiniBucketPasses::eliminate(BlockTeam& team, int c) {
  TableProduct product(graph_, plan_.clusters[c].scope, inputs(c));
  return team.for_each(product.walk(), 16, [&](const BlockWalk& walk, int thread) {
    const std::span<double> block = team.buffer(thread, 0, walk.block_size());
    product.fill(walk, 0.0, block);
    double* const out = tables_[c].message.data() + walk.first_entry() / static_cast<std::size_t>(num_states(c));
    log_sum_rows(block, num_states(c), tables_[c].weight, out);
  });
}

ClusterView MiniBucketPasses::view(int c) const {
  return {graph_, plan_.clusters[c].scope, inputs(c), tables_[c].weight, tables_[c].message};
}

bool MiniBucketPasses::apply_shift(BlockTeam& team, int c, std::span<const int> scope, const Table& shift) {
  BlockWalk walk(graph_, plan_.clusters[c].shift_scope);
  walk.add_table(scope);
  return team.for_each(walk, 1, [&](const BlockWalk& at, int) {
    at.add(0, shift.data(), {tables_[c].shift.data() + at.first_entry(), at.block_size()});
  });
}

// F_c += w_c (mean - log mu_c) with the w-weighted mean of the log-moments: the shifts add up to 0. A
// state that one cluster excludes is excluded from the others too, which changes no product.
bool MiniBucketPasses::match(BlockTeam& team, const MiniBucketPlan::Match& match) {
  std::vector<Table> moments;
  double total_weight = 0.0;
  for (const int c : match.clusters) {
    std::optional<Table> moment = log_moment(view(c), from_above_[c], match.scope, team);
    if (!moment) return false;
    moments.push_back(*std::move(moment));
    total_weight += tables_[c].weight;
  }
  std::vector<std::atomic<double>> largest(moments.size());  // |w_c| (|mean| + |log mu_c|)
  const auto shift_entry = [&](std::size_t i, std::span<double> seen) {
    double mean = 0.0;
    for (std::size_t k = 0; k < moments.size(); ++k) {
      mean += tables_[match.clusters[k]].weight * moments[k][i] / total_weight;
    }
    bool is_small = true;
    for (std::size_t k = 0; k < moments.size(); ++k) {
      if (mean != kNegInf) {
        const double size = std::abs(tables_[match.clusters[k]].weight) * (std::abs(mean) + std::abs(moments[k][i]));
        seen[k] = std::max(seen[k], size);
      }
      moments[k][i] = mean == kNegInf ? kNegInf : step_ * tables_[match.clusters[k]].weight * (mean - moments[k][i]);
      is_small = is_small && (mean == kNegInf || std::abs(moments[k][i]) <= kLargestShift);
    }
    for (std::size_t k = 0; k < moments.size() && !is_small; ++k) moments[k][i] = 0.0;
  };
  const auto shift_entries = [&](std::size_t first, std::size_t last) {
    std::vector<double> seen(moments.size(), 0.0);
    for (std::size_t i = first; i < last; ++i) shift_entry(i, seen);
    for (std::size_t k = 0; k < seen.size(); ++k) {
      for (double known = largest[k]; known < seen[k] && !largest[k].compare_exchange_weak(known, seen[k]);) {
      }
    }
  };
  if (!team.for_ranges(moments.front().size(), 4, shift_entries)) return false;
  for (std::size_t k = 0; k < moments.size(); ++k) {
    tables_[match.clusters[k]].shifts_magnitude += largest[k];
    if (!apply_shift(team, match.clusters[k], match.scope, moments[k])) return false;
  }
  return true;
}

bool MiniBucketPasses::forward(bool matches) {
  const auto pass = [&](BlockTeam& team, int level) {
    const MiniBucketPlan::Bucket& bucket = plan_.buckets[level];
    for (std::size_t m = 0; m < bucket.matches.size() && matches; ++m) {
      if (!match(team, bucket.matches[m])) return false;
    }
    for (int c = bucket.first; c < bucket.first + bucket.count; ++c) {
      if (!eliminate(team, c)) return false;
    }
    return true;
  };
  const auto is_settled = [&] { return should_settle_ && should_settle_(); };
  for (const BlockWave& wave : waves_.forward) {
    if (is_settled() || !team_->run_wave(wave, pass)) return false;
  }
  return true;
}

double MiniBucketPasses::bound() const {
  double sum = 0.0;
  for (std::size_t c = 0; c < tables_.size(); ++c) {
    if (plan_.clusters[c].parent < 0) sum += tables_[c].message.front();
  }
  return sum;
}

bool MiniBucketPasses::send(BlockTeam& team, int c, std::vector<Table>& moments) {
  const Table above = std::move(moments[c]);
  SentMoments sent{above, {}, tables_[c].shift.empty() ? nullptr : &from_above_[c]};
  for (const int child : plan_.clusters[c].children) {
    sent.children.push_back({plan_.clusters[child].separator(), &moments[child]});
  }
  const std::optional<double> entropy = send_moments(view(c), sent, team);
  if (entropy) entropies_[c] = *entropy;
  return entropy.has_value();
}

// Moves the weights by exponentiated steps along the derivatives, which are the entropies; such steps keep every sign.
// For the lower bound the positive weight follows from the others. If entries are so large that the rounding of their
// differences is beyond the range of exponentials, the entropies are NaN and the weights stay as they are.
void MiniBucketPasses::move_weights(const MiniBucketPlan::Bucket& bucket) {
  Tables* const tables = tables_.data() + bucket.first;
  const double* const entropies = entropies_.data() + bucket.first;
  std::vector<double> moved(static_cast<std::size_t>(bucket.count));
  double total = 0.0;
  if (side_ == Side::kUpper) {
    double mean = 0.0;
    for (int k = 0; k < bucket.count; ++k) mean += tables[k].weight * entropies[k];
    for (int k = 0; k < bucket.count; ++k) {
      moved[k] = tables[k].weight * std::exp(-kUpperWeightStep * step_ * tables[k].weight * (entropies[k] - mean));
      moved[k] = std::max(moved[k], kSmallestWeight);
      total += moved[k];
    }
    for (double& weight : moved) weight /= total;
  } else {
    for (int k = 1; k < bucket.count; ++k) {
      const double gradient = tables[k].weight * (entropies[k] - entropies[0]);
      moved[k] = tables[k].weight * std::exp(std::clamp(kLowerWeightStep * step_ * gradient, -1.0, 1.0));
      moved[k] = std::min(moved[k], -kSmallestWeight);
      total += moved[k];
    }
    moved[0] = 1.0 - total;
  }
  if (!std::isfinite(total)) return;
  for (int k = 0; k < bucket.count; ++k) tables[k].weight = moved[k];
}

bool MiniBucketPasses::backward() {
  std::vector<Table> moments(tables_.size());
  entropies_.resize(tables_.size());
  const auto pass = [&](BlockTeam& team, int c) {
    if (plan_.clusters[c].parent < 0) moments[c].assign(1, 1.0);
    return send(team, c, moments);
  };
  return std::all_of(waves_.backward.begin(), waves_.backward.end(),
                     [&](const BlockWave& wave) { return team_->run_wave(wave, pass); });
}

// Nothing ends this copy: if the passes are ended, the result consists of the tables that were saved.
void MiniBucketPasses::copy(const Table& from, Table& to) {
  to.resize(from.size());
  BlockTeam unended = team_->unended();
  unended.for_ranges(from.size(), 1, [&](std::size_t first, std::size_t last) {
    std::copy_n(from.data() + first, last - first, to.data() + first);
  });
}

void MiniBucketPasses::save() {
  best_shifts_.resize(tables_.size());
  best_weights_.resize(tables_.size());
  best_magnitudes_.resize(tables_.size());
  for (std::size_t c = 0; c < tables_.size(); ++c) {
    copy(tables_[c].shift, best_shifts_[c]);
    best_weights_[c] = tables_[c].weight;
    best_magnitudes_[c] = tables_[c].shifts_magnitude;
  }
}

void MiniBucketPasses::restore() {
  for (std::size_t c = 0; c < tables_.size(); ++c) {
    copy(best_shifts_[c], tables_[c].shift);
    tables_[c].weight = best_weights_[c];
    tables_[c].shifts_magnitude = best_magnitudes_[c];
  }
}

void MiniBucketPasses::run(int max_passes, ThreadTeam& team, const ShouldStop& should_settle,
                           const ShouldStop& should_stop, const TellShare& progress) {
  num_passes_ = 1;
  team_.emplace(team);
  waves_ = MiniBucketWaves(graph_, plan_, team.size());
  team_->stop_by(should_stop);
  // All passes but the first one go down and up.
  team_->tell(progress, waves_.num_entries * (plan_.is_exact() ? 1.0 : 2.0 * max_passes - 1.0));
  forward(true);
  if (!plan_.is_exact()) tighten(max_passes, should_settle);
  estimate_rounding(team);
  // The shifts only served to rebuild F_c.
  for (Tables& tables : tables_) tables.shift = {};
  team_.reset();
}

void MiniBucketPasses::tighten(int max_passes, const ShouldStop& should_settle) {
  should_settle_ = should_settle;
  team_->settle_by(should_settle);
  double best = bound();
  bool is_best = true;
  save();
  step_ = kFirstStep;
  while (num_passes_ < max_passes && best != kNegInf) {
    team_->set_done(waves_.num_entries * (2.0 * num_passes_ - 1.0));
    // After a pass that made the bound worse, the moments of the best pass are still there.
    if (is_best && !backward()) break;
    for (const MiniBucketPlan::Bucket& bucket : plan_.buckets) move_weights(bucket);
    const bool is_whole = forward(true);
    is_best = is_whole && (side_ == Side::kUpper ? bound() < best : bound() > best);
    if (is_best) {
      best = bound();
      save();
    } else {
      restore();
    }
    step_ = is_best ? std::min(1.0, step_ * kStepGrowth) : 0.5 * step_;
    if (!is_whole) break;
    ++num_passes_;
  }
  should_settle_ = {};
  team_->settle_by({});
  if (!is_best) forward(false);  // computes the messages of the best pass again
  from_above_.clear();
  best_shifts_.clear();
}

// An upper bound of the error of one message. Each of its inputs, and the sum over the states, is right to a few units
// in the last place of the largest number involved; a shift was rounded by every match.
void MiniBucketPasses::estimate_rounding(ThreadTeam& threads) {
  const auto estimate = [&](std::size_t cluster, std::size_t /*last*/, int /*thread*/) {
    const int c = static_cast<int>(cluster);
    // The sum over the states is taken of F / w and multiplied by w.
    double magnitude = std::max(1.0, std::abs(tables_[c].weight)) * (1.0 + std::log(num_states(c)));
    const std::vector<TableView> tables = inputs(c);
    for (const TableView& table : tables) {
      magnitude += largest_magnitude({table.values, num_table_entries(graph_, table.scope)});
    }
    // Shifts of a bucket add up to 0 except for the rounding of each match, whose terms may be larger than the shifts
    // that remain.
    magnitude += tables_[c].shifts_magnitude;
    const MiniBucketPlan::Bucket& bucket = plan_.buckets[plan_.clusters[c].level];
    const double of_shifts = num_passes_ * static_cast<double>(bucket.matches.size()) + bucket.count + 8.0;
    const double num_operations = static_cast<double>(tables.size()) + of_shifts + num_states(c) + 4.0;
    tables_[c].rounding = 0x1.0p-52 * num_operations * magnitude;
    tables_[c].magnitude = largest_magnitude(tables_[c].message);
  };
  threads.run(tables_.size(), 1, estimate);
}

}  // namespace treesample
