#include "value/mini_bucket_passes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "treesample/math/log_domain.hpp"
#include "treesample/math/vector_math.hpp"

namespace treesample {
namespace {

// Moments are linear on their way down: what underflows counts as this, so that only a zero of the
// model itself makes a moment vanish.
constexpr double kTinyMoment = 1e-300;
constexpr double kSmallestWeight = 1e-3;
// Larger shifts would lose the digits of the bound; they occur only where a lower bound extrapolates.
constexpr double kLargestShift = 1e8;
// Measured on 14 models: with a whole step from the second pass on, models with many zeros overshoot
// and recover late; a weight step of 1 needs 4 times the passes, one of 30 overshoots everywhere.
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
  std::vector<Table> blocks(static_cast<std::size_t>(team.num_threads()), Table(product.walk().block_size()));
  return team.for_each(product.walk(), 16, [&](const BlockWalk& walk, int thread) {
    Table& block = blocks[static_cast<std::size_t>(thread)];
    product.fill(walk, 0.0, block);
    double* const out = tables_[c].message.data() + walk.first_entry() / static_cast<std::size_t>(num_states(c));
    log_sum_rows(block, num_states(c), tables_[c].weight, out);
  });
}

// log of the sum over everything but `scope` of exp(F / w + from_above): log mu_c on the scope, up to
// a constant. -inf exactly where F is -inf for every completion. Nothing when is_ended().
std::optional<MiniBucketPasses::Table> MiniBucketPasses::log_moment(BlockTeam& team, int c, const Table& joint,
                                                                    std::span<const int> scope) {
  BlockWalk walk(graph_, plan_.clusters[c].scope);
  const int target = walk.add_table(scope);
  const int separator = walk.add_table(plan_.clusters[c].separator());
  const double scale = 1.0 / tables_[c].weight;
  const auto load = [&](const BlockWalk& at, std::span<double> block) {
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = joint[at.first_entry() + i] * scale;
    if (!from_above_[c].empty()) at.add(separator, from_above_[c].data(), block);
  };
  Table largest(num_table_entries(graph_, scope)), sum(largest.size()), reference(largest.size());
  if (!team.fill(largest, kNegInf) || !team.fill(sum, 0.0)) return {};
  const auto load_only = [&](const BlockWalk& at, std::span<double> block, int) { load(at, block); };
  const BlockTeam::Target to_largest{target, largest.data()};
  if (!team.fold(walk, 1, load_only, BlockTeam::Fold::kMax, {&to_largest, 1})) return {};
  const auto refer = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) reference[i] = largest[i] == kNegInf ? 0.0 : -largest[i];
  };
  if (!team.for_ranges(reference.size(), 1, refer)) return {};
  const auto load_exp = [&](const BlockWalk& at, std::span<double> block, int) {
    load(at, block);
    at.add(target, reference.data(), block);
    exp_each(block);
  };
  const BlockTeam::Target to_sum{target, sum.data()};
  if (!team.fold(walk, 4, load_exp, BlockTeam::Fold::kSum, {&to_sum, 1})) return {};
  std::vector<double> totals((sum.size() + BlockTeam::kRange - 1) / BlockTeam::kRange);
  const auto take_log = [&](std::size_t first, std::size_t last) {
    const std::span<double> part(sum.data() + first, last - first);
    log_each(part);
    for (std::size_t i = first; i < last; ++i) sum[i] = largest[i] == kNegInf ? kNegInf : largest[i] + sum[i];
    totals[first / BlockTeam::kRange] = log_sum_exp(part);
  };
  if (!team.for_ranges(sum.size(), 8, take_log)) return {};
  const double log_total = log_sum_exp(totals);
  if (log_total == kNegInf) return sum;
  const auto normalise = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) sum[i] -= log_total;
  };
  if (!team.for_ranges(sum.size(), 1, normalise)) return {};
  return sum;
}

bool MiniBucketPasses::apply_shift(BlockTeam& team, int c, std::span<const int> scope, const Table& shift,
                                   Table& joint) {
  const auto add = [&](std::span<const int> large_scope, Table& large) {
    BlockWalk walk(graph_, large_scope);
    walk.add_table(scope);
    return team.for_each(walk, 1, [&](const BlockWalk& at, int) {
      at.add(0, shift.data(), {large.data() + at.first_entry(), at.block_size()});
    });
  };
  return add(plan_.clusters[c].scope, joint) && add(plan_.clusters[c].shift_scope, tables_[c].shift);
}

// F_c += w_c (mean - log mu_c) with the w-weighted mean of the log-moments: the shifts add up to 0. A
// state that one cluster excludes is excluded from the others too, which changes no product.
bool MiniBucketPasses::match(BlockTeam& team, const MiniBucketPlan::Match& match, std::vector<Table>& joint,
                             int first_cluster) {
  std::vector<Table> moments;
  double total_weight = 0.0;
  for (const int c : match.clusters) {
    std::optional<Table> moment = log_moment(team, c, joint[c - first_cluster], match.scope);
    if (!moment) return false;
    moments.push_back(*std::move(moment));
    total_weight += tables_[c].weight;
  }
  const auto shift_entry = [&](std::size_t i) {
    double mean = 0.0;
    for (std::size_t k = 0; k < moments.size(); ++k) {
      mean += tables_[match.clusters[k]].weight * moments[k][i] / total_weight;
    }
    bool is_small = true;
    for (std::size_t k = 0; k < moments.size(); ++k) {
      moments[k][i] = mean == kNegInf ? kNegInf : step_ * tables_[match.clusters[k]].weight * (mean - moments[k][i]);
      is_small = is_small && (mean == kNegInf || std::abs(moments[k][i]) <= kLargestShift);
    }
    for (std::size_t k = 0; k < moments.size() && !is_small; ++k) moments[k][i] = 0.0;
  };
  const auto shift_entries = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) shift_entry(i);
  };
  if (!team.for_ranges(moments.front().size(), 4, shift_entries)) return false;
  for (std::size_t k = 0; k < moments.size(); ++k) {
    if (!apply_shift(team, match.clusters[k], match.scope, moments[k], joint[match.clusters[k] - first_cluster])) {
      return false;
    }
  }
  return true;
}

bool MiniBucketPasses::match_and_eliminate(BlockTeam& team, const MiniBucketPlan::Bucket& bucket) {
  std::vector<Table> joint(static_cast<std::size_t>(bucket.count));
  for (int k = 0; k < bucket.count; ++k) {
    const int c = bucket.first + k;
    TableProduct product(graph_, plan_.clusters[c].scope, inputs(c));
    joint[k].resize(num_table_entries(graph_, plan_.clusters[c].scope));
    const auto fill = [&](const BlockWalk& walk, int) {
      product.fill(walk, 0.0, {joint[k].data() + walk.first_entry(), walk.block_size()});
    };
    if (!team.for_each(product.walk(), 1, fill)) return false;
  }
  for (const MiniBucketPlan::Match& each : bucket.matches) {
    if (!match(team, each, joint, bucket.first)) return false;
  }
  for (int k = 0; k < bucket.count; ++k) {
    const int c = bucket.first + k;
    BlockWalk blocks(graph_, plan_.clusters[c].scope);
    const auto sum_block = [&](const BlockWalk& walk, int) {
      const std::span<double> block(joint[k].data() + walk.first_entry(), walk.block_size());
      double* const out = tables_[c].message.data() + walk.first_entry() / static_cast<std::size_t>(num_states(c));
      log_sum_rows(block, num_states(c), tables_[c].weight, out);
    };
    if (!team.for_each(blocks, 4, sum_block)) return false;
  }
  return true;
}

bool MiniBucketPasses::forward(bool matches) {
  const auto pass = [&](BlockTeam& team, int level) {
    const MiniBucketPlan::Bucket& bucket = plan_.buckets[level];
    if (bucket.count > 1 && matches) return match_and_eliminate(team, bucket);
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

// mu_c(x) = p_c(x_n | x_sep) mu(x_sep) with p_c = exp((F_c - lambda_c) / w_c); its sums are what the
// children get. What is stored in entropies_ is the conditional entropy of p_c under mu, the derivative of the bound by
// w_c.
bool MiniBucketPasses::send_moments(BlockTeam& team, int c, std::vector<Table>& moments) {
  const MiniBucketPlan::Cluster& cluster = plan_.clusters[c];
  const Table above = std::move(moments[c]);
  TableProduct product(graph_, cluster.scope, inputs(c));
  std::vector<BlockTeam::Target> targets;
  for (const int child : cluster.children) {
    moments[child].resize(tables_[child].message.size());
    if (!team.fill(moments[child], 0.0)) return false;
    targets.push_back({product.walk().add_table(plan_.clusters[child].separator()), moments[child].data()});
  }
  const auto row_size = static_cast<std::size_t>(num_states(c));
  const double scale = 1.0 / tables_[c].weight;
  const std::size_t block_size = product.walk().block_size();
  std::vector<double> entropies(product.walk().num_blocks(), 0.0);  // by block, whoever made it
  std::vector<Table> log_probs(static_cast<std::size_t>(team.num_threads()), Table(block_size));
  const auto make = [&](const BlockWalk& walk, std::span<double> block, int thread) {
    Table& log_prob = log_probs[static_cast<std::size_t>(thread)];
    product.fill(walk, 0.0, block);
    const double* const above_row = above.data() + walk.first_entry() / row_size;
    const double* const message_row = tables_[c].message.data() + walk.first_entry() / row_size;
    for (std::size_t row = 0, i = 0; i < block.size(); ++row) {
      for (const std::size_t end = i + row_size; i < end; ++i) {
        log_prob[i] = above_row[row] == 0.0 ? 0.0 : (block[i] - message_row[row]) * scale;
      }
    }
    std::copy(log_prob.begin(), log_prob.end(), block.begin());
    exp_each(block);
    double entropy = 0.0;
    for (std::size_t row = 0, i = 0; i < block.size(); ++row) {
      for (const std::size_t end = i + row_size; i < end; ++i) {
        block[i] = log_prob[i] == kNegInf ? 0.0 : block[i] * above_row[row];
        if (block[i] > 0.0) entropy -= block[i] * log_prob[i];
      }
    }
    entropies[walk.first_entry() / block_size] = entropy;
  };
  if (!team.fold(product.walk(), 8, make, BlockTeam::Fold::kSum, targets)) return false;
  entropies_[c] = std::accumulate(entropies.begin(), entropies.end(), 0.0);
  if (tables_[c].shift.empty()) return true;
  from_above_[c].resize(above.size());
  return team.for_ranges(above.size(), 4, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const double lambda = tables_[c].message[i];
      from_above_[c][i] = lambda == kNegInf ? 0.0 : std::log(std::max(above[i], kTinyMoment)) - lambda * scale;
    }
  });
}

// Exponentiated steps along the derivatives, which are the entropies: they keep every sign. For the
// lower bound the positive weight follows from the others.
void MiniBucketPasses::move_weights(const MiniBucketPlan::Bucket& bucket) {
  Tables* const tables = tables_.data() + bucket.first;
  const double* const entropies = entropies_.data() + bucket.first;
  double total = 0.0;
  if (side_ == Side::kUpper) {
    double mean = 0.0;
    for (int k = 0; k < bucket.count; ++k) mean += tables[k].weight * entropies[k];
    for (int k = 0; k < bucket.count; ++k) {
      tables[k].weight *= std::exp(-kUpperWeightStep * step_ * tables[k].weight * (entropies[k] - mean));
      tables[k].weight = std::max(tables[k].weight, kSmallestWeight);
      total += tables[k].weight;
    }
    for (int k = 0; k < bucket.count; ++k) tables[k].weight /= total;
    return;
  }
  for (int k = 1; k < bucket.count; ++k) {
    const double gradient = tables[k].weight * (entropies[k] - entropies[0]);
    tables[k].weight *= std::exp(std::clamp(kLowerWeightStep * step_ * gradient, -1.0, 1.0));
    tables[k].weight = std::min(tables[k].weight, -kSmallestWeight);
    total += tables[k].weight;
  }
  tables[0].weight = 1.0 - total;
}

bool MiniBucketPasses::backward() {
  std::vector<Table> moments(tables_.size());
  entropies_.resize(tables_.size());
  const auto send = [&](BlockTeam& team, int c) {
    if (plan_.clusters[c].parent < 0) moments[c].assign(1, 1.0);
    return send_moments(team, c, moments);
  };
  return std::all_of(waves_.backward.begin(), waves_.backward.end(),
                     [&](const BlockWave& wave) { return team_->run_wave(wave, send); });
}

// Whoever ends the passes gets the tables that were saved.
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
  for (std::size_t c = 0; c < tables_.size(); ++c) {
    copy(tables_[c].shift, best_shifts_[c]);
    best_weights_[c] = tables_[c].weight;
  }
}

void MiniBucketPasses::restore() {
  for (std::size_t c = 0; c < tables_.size(); ++c) {
    copy(best_shifts_[c], tables_[c].shift);
    tables_[c].weight = best_weights_[c];
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
  // They only served to rebuild F_c.
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
    // After a lost pass the moments of the best one are still there.
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
  if (!is_best) forward(false);  // the messages of the best pass again
  from_above_.clear();
  best_shifts_.clear();
}

// What the error of one message is at most: each of its inputs, and the sum over the states, is right
// to a few units in the last place of the largest number involved; a shift was rounded by every match.
void MiniBucketPasses::estimate_rounding(ThreadTeam& threads) {
  const auto estimate = [&](std::size_t cluster, std::size_t /*last*/, int /*thread*/) {
    const int c = static_cast<int>(cluster);
    double magnitude = 1.0;
    const std::vector<TableView> tables = inputs(c);
    for (const TableView& table : tables) {
      magnitude += largest_magnitude({table.values, num_table_entries(graph_, table.scope)});
    }
    const auto num_matches = static_cast<double>(plan_.buckets[plan_.clusters[c].level].matches.size());
    const double num_operations = static_cast<double>(tables.size()) + num_passes_ * num_matches + num_states(c) + 4.0;
    tables_[c].rounding = 0x1.0p-52 * num_operations * magnitude;
  };
  threads.run(tables_.size(), 1, estimate);
}

}  // namespace treesample
