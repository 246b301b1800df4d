// The way down of a kept elimination: derivatives.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exact/kept_kernels.hpp"
#include "exact/kept_program.hpp"
#include "exact/kept_views.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/kept_elimination.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

using Table = KeptProgram::Table;

}  // namespace

void KeptElimination::run_down(std::span<const double> lane_weights) {
  const auto num_lanes = static_cast<std::size_t>(program_->num_lanes);
  check_argument(lane_weights.empty() || lane_weights.size() == num_lanes, kKeptElimination,
                 "one weight per lane is needed");
  std::fill_n(adjoints_.begin(), program_->num_leaf_adjoints, 0.0);
  for (const int root : program_->roots) clear_adjoint(root);
  for (const int root : program_->roots) {
    const Table& table = program_->tables[root];
    if (!table.is_wanted) continue;
    for (std::size_t lane = 0; lane < num_lanes; ++lane) {
      const std::size_t at = table.by_lane ? lane : 0;
      const double weight = lane_weights.empty() ? 1.0 : lane_weights[lane];
      if (weight == 0.0 || log_z_[lane] == kNegInf) continue;
      adjoints_[table.adjoints + at] += weight / values_[table.values + at];
    }
  }
  for (std::size_t b = program_->buckets.size(); b-- > 0;) {
    const Bucket& bucket = program_->buckets[b];
    if (program_->tables[bucket.message].is_wanted) bucket_down(bucket);
  }
}

void KeptElimination::clear_adjoint(int t) {
  const Table& table = program_->tables[t];
  if (!table.is_wanted) return;
  std::fill_n(adjoints_.begin() + static_cast<std::ptrdiff_t>(table.adjoints), table.size * program_->lanes_of(table),
              0.0);
}

void KeptElimination::bucket_down(const Bucket& bucket) {
  const Table& message = program_->tables[bucket.message];
  const std::size_t num_lanes = program_->lanes_of(message);
  double* const factors = scratch_.data() + program_->num_scratch;
  for (std::size_t lane = 0; lane < num_lanes; ++lane) {
    const double exponent = exponents_[bucket.exponents + lane];
    factors[lane] = exponent == 0.0 ? 1.0 : std::ldexp(1.0, -static_cast<int>(exponent));
  }
  double* const adjoint = adjoints_.data() + message.adjoints;
  // What is 0 contributes nothing, whatever its derivative is: these may grow without limit.
  mask_lanes(values_.data() + message.values, adjoint, message.size, num_lanes, factors);
  for (const int input : bucket.inputs) {
    if (program_->is_message(input)) clear_adjoint(input);
  }
  for (const KeptProgram::Group& group : bucket.groups) clear_adjoint(group.table);
  const BucketView view(*program_, bucket, values_.data(), adjoints_.data(), scratch_.data());
  spread_adjoints(view.loop(), adjoint, scratch_.data());
  for (const KeptProgram::Group& group : bucket.groups) {
    const Table& product = program_->tables[group.table];
    if (!product.is_wanted) continue;
    spread_group(GroupView(*program_, group, values_.data(), adjoints_.data()).members(), product.size,
                 adjoints_.data() + product.adjoints, scratch_.data());
  }
}

void KeptElimination::asked(int index, int lane, std::span<double> probabilities) const {
  check_range(kKeptElimination, "index", index, 0, std::ssize(program_->asked_tables) - 1);
  check_range(kKeptElimination, "lane", lane, 0, num_lanes() - 1);
  const Table& table = program_->tables[program_->asked_tables[index]];
  const std::vector<std::uint32_t>& places = program_->asked_places[index];
  check_argument(probabilities.size() == places.size(), kKeptElimination, "there is no room for each joint state");
  const std::size_t width = program_->lanes_of(table), at = table.by_lane ? static_cast<std::size_t>(lane) : 0;
  for (std::size_t e = 0; e < places.size(); ++e) {
    const std::size_t place = places[e] * width + at;
    probabilities[e] = values_[table.values + place] * adjoints_[table.adjoints + place];
  }
}

void KeptElimination::add_counts(int factor, std::span<double> counts) const {
  check_range(kKeptElimination, "factor", factor, 0, std::ssize(program_->leaf_of_factor) - 1);
  const int i = program_->leaf_of_factor[factor];
  if (!(i >= 0 && program_->tables[program_->leaves[i].table].is_wanted))
    throw_argument(kKeptElimination, fmt::format("factor {} is not among the parameters", factor));
  const KeptProgram::Leaf& leaf = program_->leaves[i];
  const Table& table = program_->tables[leaf.table];
  if (!(counts.size() == table.size))
    throw_argument(kKeptElimination, fmt::format("factor {} has {} entries", factor, table.size));
  for (std::size_t e = 0; e < table.size; ++e) {
    counts[leaf.places[e]] += values_[table.values + e] * adjoints_[table.adjoints + e];
  }
}

}  // namespace treesample
