#include "value/cluster_moments.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "math/dispatched.hpp"
#include "math/lane_sum.hpp"
#include "math/vector_kernels.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/vector_math.hpp"

namespace treesample {
namespace {

// On the way down moments are not kept as logarithms. A moment that underflows is replaced by this, so that a moment
// vanishes only because of a zero of the model.
constexpr double kTinyMoment = 1e-300;
// How far a term of a sum of exponentials may lie above its reference, the number that is subtracted from all terms.
constexpr double kMostAbove = 64.0;

// Writes each number row_size times.
TS_DISPATCHED void spread(const double* rows, std::size_t num_rows, std::size_t row_size, double* to) {
  if (row_size == 2) {
    for (std::size_t r = 0; r < num_rows; ++r) to[2 * r] = to[2 * r + 1] = rows[r];
    return;
  }
  for (std::size_t r = 0; r < num_rows; ++r, to += row_size) {
    for (std::size_t a = 0; a < row_size; ++a) to[a] = rows[r];
  }
}

TS_DISPATCHED void scale_and_add(double* block, std::size_t size, double scale, const double* more) {
  for (std::size_t i = 0; i < size; ++i) block[i] = block[i] * scale + more[i];
}
TS_DISPATCHED void scale_each(double* block, std::size_t size, double scale) {
  for (std::size_t i = 0; i < size; ++i) block[i] *= scale;
}

// block = exp((block - message) / w) * above, where scale = 1 / w. message = the contribution of each entry to the
// entropy.
TS_DISPATCHED void weigh(double* block, std::size_t size, double scale, double* message, const double* above) {
  for (std::size_t i = 0; i < size; ++i) {
    const double log_prob = above[i] == 0.0 ? 0.0 : (block[i] - message[i]) * scale;
    const double weighed = exp_one(log_prob) * above[i];
    const double moment = log_prob == kNegInf ? 0.0 : weighed;
    const double term = moment * log_prob;
    block[i] = moment;
    message[i] = moment > 0.0 ? -term : 0.0;
  }
}

// log mu(x_sep) - lambda / w.
TS_DISPATCHED void log_above(const double* above, const double* message, std::size_t size, double scale, double* to) {
  for (std::size_t i = 0; i < size; ++i) {
    const double moment = above[i] > kTinyMoment ? above[i] : kTinyMoment;
    const double value = log_one(moment) - message[i] * scale;
    to[i] = message[i] == kNegInf ? 0.0 : value;
  }
}

// Sums of exponentials, each stored as a reference and the sum of exp(term - reference). The reference is itself a
// term, at most kMostAbove below the largest, so that few blocks have to rescale the sums of earlier blocks.
struct LogSums {
  int target = 0;                        // in the walk
  std::span<double> highest, reference;  // of a block; scratch memory

  // Adds the sums of a block, which is overwritten. `relative_to` has the references.
  void add(const BlockWalk& walk, std::span<double> block, double* relative_to, double* sums, bool is_first) const {
    const std::size_t size = highest.size();
    std::fill(highest.begin(), highest.end(), kNegInf);
    walk.accumulate_max_at(0, target, block, highest.data());
    if (is_first) {
      std::copy(highest.begin(), highest.end(), relative_to);
      std::fill_n(sums, size, 0.0);
    }
    for (std::size_t j = 0; j < size; ++j) {
      if (highest[j] > relative_to[j] + kMostAbove) {
        sums[j] = relative_to[j] == kNegInf ? 0.0 : sums[j] * std::exp(relative_to[j] - highest[j]);
        relative_to[j] = highest[j];
      }
      reference[j] = relative_to[j] == kNegInf ? 0.0 : -relative_to[j];
    }
    walk.add_at(0, target, reference.data(), block);
    exp_each(block);
    walk.accumulate_at(0, target, block, sums);
  }
};

// Merges the copies: log of the sum over the copies of exp(relative_to) * sums. Overwrites the references.
void merge_copies(std::span<double> relative_to, std::span<const double> sums, std::size_t first, std::size_t last,
                  std::span<double> to) {
  const std::size_t num_copies = relative_to.size() / to.size();
  std::vector<double> largest(last - first, kNegInf);
  const auto copy = [&](std::size_t c) { return relative_to.subspan(c * to.size() + first, last - first); };
  for (std::size_t c = 0; c < num_copies; ++c) {
    for (std::size_t i = 0; i < largest.size(); ++i) largest[i] = std::max(largest[i], copy(c)[i]);
  }
  const std::span<double> total = to.subspan(first, last - first);
  std::fill(total.begin(), total.end(), 0.0);
  for (std::size_t c = 0; c < num_copies; ++c) {
    const std::span<double> share = copy(c);
    for (std::size_t i = 0; i < share.size(); ++i) share[i] = largest[i] == kNegInf ? 0.0 : share[i] - largest[i];
    exp_each(share);
    for (std::size_t i = 0; i < share.size(); ++i) total[i] += share[i] * sums[c * to.size() + first + i];
  }
  log_each(total);
  for (std::size_t i = 0; i < total.size(); ++i) total[i] = largest[i] == kNegInf ? kNegInf : largest[i] + total[i];
}

}  // namespace

std::optional<UnsetVector> log_moment(const ClusterView& cluster, std::span<const double> from_above,
                                      std::span<const int> onto, BlockTeam& team) {
  TableProduct product(cluster.graph, cluster.scope, cluster.inputs);
  BlockWalk& walk = product.walk();
  const int target = walk.add_table(onto);
  UnsetVector moment(num_table_entries(cluster.graph, onto));
  const BlockFold parts(walk, {{target, moment.size()}});
  UnsetVector relative_to(parts.num_entries(0)), sums(parts.num_entries(0));
  const double scale = 1.0 / cluster.weight;
  const std::size_t row_size = cluster.num_states(), size = walk.block_size(), inner_size = walk.inner_size(target);
  const auto add = [&](const BlockWalk& at, const BlockFold::Place& place, int thread) {
    const std::span<double> block = team.buffer(thread, 0, size), above = team.buffer(thread, 1, size);
    product.fill(at, 0.0, block);
    if (from_above.empty()) {
      scale_each(block.data(), size, scale);
    } else {
      spread(from_above.data() + at.first_entry() / row_size, size / row_size, row_size, above.data());
      scale_and_add(block.data(), size, scale, above.data());
    }
    const LogSums log_sums{target, team.buffer(thread, 2, inner_size), team.buffer(thread, 3, inner_size)};
    log_sums.add(at, block, parts.entries(0, at, place, relative_to.data()), parts.entries(0, at, place, sums.data()),
                 parts.is_first(0, place));
  };
  if (!team.fold(walk, parts, 8, add)) return {};
  std::vector<double> totals((moment.size() + BlockTeam::kRange - 1) / BlockTeam::kRange);
  const auto take_log = [&](std::size_t first, std::size_t last) {
    merge_copies(relative_to, sums, first, last, moment);
    totals[first / BlockTeam::kRange] = log_sum_exp({moment.data() + first, last - first});
  };
  if (!team.for_ranges(moment.size(), 8 * parts.num_copies(0), take_log)) return {};
  const double log_total = log_sum_exp(totals);
  if (log_total == kNegInf) return moment;
  const auto normalise = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) moment[i] -= log_total;
  };
  if (!team.for_ranges(moment.size(), 1, normalise)) return {};
  return moment;
}

std::optional<double> send_moments(const ClusterView& cluster, const SentMoments& sent, BlockTeam& team) {
  TableProduct product(cluster.graph, cluster.scope, cluster.inputs);
  BlockWalk& walk = product.walk();
  std::vector<BlockFold::Target> targets;
  for (const MomentSink& child : sent.children) {
    child.moment->resize(num_table_entries(cluster.graph, child.separator));
    targets.push_back({walk.add_table(child.separator), child.moment->size()});
  }
  const BlockFold parts(walk, targets);
  std::vector<UnsetVector> copies(targets.size());
  std::vector<double*> to(targets.size());
  for (std::size_t t = 0; t < targets.size(); ++t) {
    if (parts.num_copies(t) > 1) copies[t].resize(parts.num_entries(t));
    to[t] = copies[t].empty() ? sent.children[t].moment->data() : copies[t].data();
  }
  if (sent.from_above != nullptr) sent.from_above->resize(sent.above.size());
  const double scale = 1.0 / cluster.weight;
  const std::size_t row_size = cluster.num_states(), size = walk.block_size(), num_rows = size / row_size;
  std::vector<double> entropies(walk.num_blocks(), 0.0);  // by block, so that the total does not depend on the threads
  const auto add = [&](const BlockWalk& at, const BlockFold::Place& place, int thread) {
    const std::span<double> block = team.buffer(thread, 0, size), message = team.buffer(thread, 1, size),
                            above = team.buffer(thread, 2, size);
    const std::size_t first_row = at.first_entry() / row_size;
    product.fill(at, 0.0, block);
    spread(cluster.message.data() + first_row, num_rows, row_size, message.data());
    spread(sent.above.data() + first_row, num_rows, row_size, above.data());
    weigh(block.data(), size, scale, message.data(), above.data());
    entropies[at.first_entry() / size] = lane_sum(message);
    for (std::size_t t = 0; t < targets.size(); ++t) {
      double* const entries = parts.entries(t, at, place, to[t]);
      if (parts.is_first(t, place)) std::fill_n(entries, at.inner_size(targets[t].id), 0.0);
      at.accumulate_at(0, targets[t].id, block, entries);
    }
    if (sent.from_above == nullptr) return;
    log_above(sent.above.data() + first_row, cluster.message.data() + first_row, num_rows, scale,
              sent.from_above->data() + first_row);
  };
  if (!team.fold(walk, parts, 8, add)) return {};
  for (std::size_t t = 0; t < targets.size(); ++t) {
    if (!copies[t].empty() && !team.add_copies(copies[t], *sent.children[t].moment)) return {};
  }
  return std::accumulate(entropies.begin(), entropies.end(), 0.0);
}

}  // namespace treesample
