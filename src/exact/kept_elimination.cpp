#include "treesample/exact/kept_elimination.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "exact/kept_kernels.hpp"
#include "exact/kept_program.hpp"
#include "exact/kept_views.hpp"
#include "exact/linear_error.hpp"
#include "math/vector_kernels.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr int kMostExponent = 30;          // messages whose largest entry is farther from 1 are scaled
constexpr int kLeastExponent = -1000;      // below that its inverse would be infinite
constexpr double kWide = 0x1.0p100;        // the same for products of messages without variables
constexpr double kMostLostInLane = 1e-10;  // of log Z: a lane is lossy beyond that

using Table = KeptProgram::Table;

}  // namespace

KeptElimination::KeptElimination(const FactorGraph& graph, const KeptOptions& options) {
  auto program = std::make_shared<KeptProgram>(graph, options);
  values_.assign(program->num_values, 0.0);
  adjoints_.assign(program->num_adjoints, 0.0);
  largest_.assign(program->num_extents, 1.0);
  least_.assign(program->num_extents, 1.0);
  absolute_.assign(program->num_extents, 0.0);
  exponents_.assign(program->num_exponents, 0.0);
  is_new_.assign(program->tables.size(), 1);
  const auto num_lanes = static_cast<std::size_t>(program->num_lanes);
  states_.assign(program->observed.size() * num_lanes, 0);
  num_states_.reserve(static_cast<std::size_t>(graph.num_variables()));
  for (int v = 0; v < graph.num_variables(); ++v) num_states_.push_back(graph.num_states(v));
  has_new_states_.assign(program->observed.size(), 1);
  scratch_.assign(program->num_scratch + 2 * num_lanes, 0.0);
  log_z_.assign(num_lanes, 0.0);
  log_z_error_.assign(num_lanes, 0.0);
  log_maxima_.assign(program->leaves.size(), 0.0);
  leaf_least_.assign(program->leaves.size(), 1.0);
  for (std::size_t i = 0; i < program->leaves.size(); ++i) {
    KeptProgram::Leaf& leaf = program->leaves[i];
    const std::vector<double>& log_values = graph.factor(leaf.factor).log_values();
    const Table& table = program->tables[leaf.table];
    if (leaf.cuts.empty()) {
      take_leaf(*program, i, log_values, leaf.places, {values_.data() + table.values, table.size});
    } else {
      leaf.whole.resize(log_values.size());
      take_leaf(*program, i, log_values, {}, leaf.whole);
    }
  }
  const auto ones = [&](int t) {
    const Table& table = program->tables[t];
    std::fill_n(values_.begin() + static_cast<std::ptrdiff_t>(table.values), table.size * program->lanes_of(table),
                1.0);
  };
  for (const int t : program->weights_of) {
    if (t >= 0) ones(t);
  }
  for (const int t : program->asked_tables) ones(t);
  program_ = std::move(program);
  sum_constants();
}

int KeptElimination::num_lanes() const { return program_->num_lanes; }
double KeptElimination::num_entries() const { return program_->num_entries; }
std::size_t KeptElimination::bytes() const { return sizeof(double) * (values_.size() + adjoints_.size()); }

std::vector<int> KeptElimination::order() const {
  std::vector<int> order;
  for (const int v : program_->order) order.push_back(program_->variable_of[v]);
  return order;
}

// ---- what is known -----------------------------------------------------------------------------------------------

void KeptElimination::set_state(int lane, int variable, int state) {
  check_range(kKeptElimination, "lane", lane, 0, num_lanes() - 1);
  check_range(kKeptElimination, "variable", variable, 0, std::ssize(num_states_) - 1);
  check_range(kKeptElimination, "state", state, 0, num_states_[variable] - 1);
  const int at = program_->observed_at[variable];
  if (!(at >= 0))
    throw_argument(kKeptElimination, fmt::format("variable {} is not among those that are observed", variable));
  int& known =
      states_[static_cast<std::size_t>(at) * static_cast<std::size_t>(num_lanes()) + static_cast<std::size_t>(lane)];
  if (known == state) return;
  known = state;
  has_new_states_[at] = 1;
}

void KeptElimination::set_weights(int lane, int variable, std::span<const double> weights) {
  check_range(kKeptElimination, "lane", lane, 0, num_lanes() - 1);
  check_range(kKeptElimination, "variable", variable, 0, std::ssize(num_states_) - 1);
  const int t = program_->weights_of[variable];
  if (!(t >= 0)) throw_argument(kKeptElimination, fmt::format("variable {} is not among those with weights", variable));
  const Table& table = program_->tables[t];
  if (!(weights.size() == table.size))
    throw_argument(kKeptElimination, fmt::format("variable {} has other states", variable));
  const std::size_t width = program_->lanes_of(table);
  double* const to = values_.data() + table.values + lane;
  bool is_changed = false;
  double largest = 0.0, least = std::numeric_limits<double>::infinity();
  for (std::size_t s = 0; s < weights.size(); ++s) {
    const double weight = weights[s];
    if (!(weight >= 0.0 && weight < std::numeric_limits<double>::infinity()))
      throw_argument(
          kKeptElimination,
          fmt::format("variable {} has the weight {}, allowed are finite numbers from 0 on", variable, weight));
    is_changed = is_changed || to[s * width] != weight;
    to[s * width] = weight;
    largest = std::max(largest, weight);
    if (weight > 0.0) least = std::min(least, weight);
  }
  if (!is_changed) return;
  largest_[table.extents + static_cast<std::size_t>(lane)] = largest;
  least_[table.extents + static_cast<std::size_t>(lane)] = least;
  is_new_[t] = 1;
}

void KeptElimination::set_only_state(int lane, int variable, int state) {
  check_range(kKeptElimination, "variable", variable, 0, std::ssize(num_states_) - 1);
  check_range(kKeptElimination, "state", state, -1, num_states_[variable] - 1);
  std::array<double, 64> few{};
  std::vector<double> many;
  const auto count = static_cast<std::size_t>(num_states_[variable]);
  if (count > few.size()) many.resize(count);
  const std::span<double> weights = count > few.size() ? std::span<double>(many) : std::span<double>(few).first(count);
  std::fill(weights.begin(), weights.end(), state < 0 ? 1.0 : 0.0);
  if (state >= 0) weights[static_cast<std::size_t>(state)] = 1.0;
  set_weights(lane, variable, weights);
}

void KeptElimination::set_table(int factor, std::span<const double> log_values) {
  check_range(kKeptElimination, "factor", factor, 0, std::ssize(program_->leaf_of_factor) - 1);
  const int i = program_->leaf_of_factor[factor];
  if (!(i >= 0 && program_->leaves[i].cuts.empty()))
    throw_argument(kKeptElimination, fmt::format("factor {} is not among the parameters", factor));
  const KeptProgram::Leaf& leaf = program_->leaves[i];
  const Table& table = program_->tables[leaf.table];
  if (!(log_values.size() == table.size))
    throw_argument(kKeptElimination,
                   fmt::format("factor {} has {} entries, not {}", factor, table.size, log_values.size()));
  for (const double value : log_values) {
    if (!(value < std::numeric_limits<double>::infinity()))
      throw_argument(kKeptElimination,
                     fmt::format("factor {} has the logarithm {}, allowed are -inf and finite numbers", factor, value));
  }
  take_leaf(*program_, static_cast<std::size_t>(i), log_values, leaf.places,
            {values_.data() + table.values, table.size});
  is_new_[leaf.table] = 1;
  is_constant_new_ = true;
}

// exp(f - largest of f). What is too small becomes 0, which is an absolute error (exact/linear_error.hpp).
void KeptElimination::take_leaf(const KeptProgram& program, std::size_t leaf, std::span<const double> log_values,
                                std::span<const std::uint32_t> places, std::span<double> out) {
  double largest = kNegInf, least = 1.0, absolute = 0.0;
  for (const double value : log_values) largest = std::max(largest, value);
  for (std::size_t e = 0; e < out.size(); ++e) {
    const double value = log_values[places.empty() ? e : places[e]];
    out[e] = value == kNegInf ? 0.0 : std::exp(value - largest);
    if (value != kNegInf && out[e] < LinearError::kTiny) {
      out[e] = 0.0;
      absolute = LinearError::kTiny;
    }
    if (out[e] > 0.0) least = std::min(least, out[e]);
  }
  log_maxima_[leaf] = largest;
  leaf_least_[leaf] = least;
  const Table& table = program.tables[program.leaves[leaf].table];
  std::fill_n(least_.begin() + static_cast<std::ptrdiff_t>(table.extents), program.lanes_of(table), least);
  std::fill_n(absolute_.begin() + static_cast<std::ptrdiff_t>(table.extents), program.lanes_of(table), absolute);
}

// The maxima of the factors, which are 1 in their tables, and what the entries are off by.
void KeptElimination::sum_constants() {
  is_constant_new_ = false;
  CompensatedSum sum;
  sum.add(program_->log_constant);
  leaf_error_ = program_->rounding;
  for (std::size_t i = 0; i < log_maxima_.size(); ++i) {
    if (log_maxima_[i] == kNegInf) continue;  // its table is 0 everywhere
    sum.add(log_maxima_[i]);
    leaf_error_ += LinearError::of_factor(log_maxima_[i], std::log(leaf_least_[i])).relative;
  }
  log_constant_ = sum.value();
  log_constant_error_ = sum.error() + program_->log_constant_error;
}

// Takes the rows of the states that are new out of the factors.
void KeptElimination::refresh_leaves() {
  const auto num_lanes = static_cast<std::size_t>(program_->num_lanes);
  std::vector<std::uint32_t> rows(num_lanes);
  for (const KeptProgram::Leaf& leaf : program_->leaves) {
    if (std::none_of(leaf.cuts.begin(), leaf.cuts.end(), [&](const auto& cut) { return has_new_states_[cut.first]; })) {
      continue;
    }
    std::fill(rows.begin(), rows.end(), 0);
    for (const auto& [at, stride] : leaf.cuts) {
      const int* const states = states_.data() + static_cast<std::size_t>(at) * num_lanes;
      for (std::size_t lane = 0; lane < num_lanes; ++lane) {
        rows[lane] += static_cast<std::uint32_t>(stride * static_cast<std::size_t>(states[lane]));
      }
    }
    const Table& table = program_->tables[leaf.table];
    double* to = values_.data() + table.values;
    for (std::size_t e = 0; e < table.size; ++e, to += num_lanes) {
      const double* const from = leaf.whole.data() + leaf.places[e];
      for (std::size_t lane = 0; lane < num_lanes; ++lane) to[lane] = from[rows[lane]];
    }
    is_new_[leaf.table] = 1;
  }
  std::fill(has_new_states_.begin(), has_new_states_.end(), 0);
}

// ---- up ------------------------------------------------------------------------------------------------------------

void KeptElimination::run_up() {
  refresh_leaves();
  if (is_constant_new_) sum_constants();
  for (std::size_t b = 0; b < program_->buckets.size(); ++b) {
    const KeptProgram::Bucket& bucket = program_->buckets[b];
    bool is_new = false;
    for (const int input : bucket.inputs) is_new = is_new || is_new_[input] != 0;
    if (!is_new) continue;
    sum_bucket(bucket);
    normalise(bucket);
    is_new_[bucket.message] = 1;
  }
  std::fill(is_new_.begin(), is_new_.end(), 0);
  find_log_z();
}

void KeptElimination::sum_bucket(const Bucket& bucket) {
  for (const KeptProgram::Group& group : bucket.groups) {
    if (std::none_of(group.members.begin(), group.members.end(), [&](int t) { return is_new_[t] != 0; })) continue;
    const Table& product = program_->tables[group.table];
    multiply_members(GroupView(*program_, group, values_.data(), nullptr).members(), product.size,
                     values_.data() + product.values);
  }
  const BucketView view(*program_, bucket, values_.data(), nullptr, scratch_.data());
  sum_blocks(view.loop(), values_.data() + program_->tables[bucket.message].values, scratch_.data());
}

// Scales the message of each lane, and keeps account of what may have been lost (exact/linear_error.hpp).
void KeptElimination::normalise(const Bucket& bucket) {
  const Table& message = program_->tables[bucket.message];
  const std::size_t num_lanes = program_->lanes_of(message);
  double* const largest = largest_.data() + message.extents;
  double* const least = least_.data() + message.extents;
  lane_extents(values_.data() + message.values, message.size, num_lanes, largest, least);
  note_losses(bucket);
  double* const factors = scratch_.data() + program_->num_scratch;
  bool is_scaled = false;
  for (std::size_t lane = 0; lane < num_lanes; ++lane) {
    const int exponent = largest[lane] > 0.0 ? std::max(std::ilogb(largest[lane]), kLeastExponent) : 0;
    const bool is_far = std::abs(exponent) > kMostExponent;
    factors[lane] = is_far ? std::ldexp(1.0, -exponent) : 1.0;
    exponents_[bucket.exponents + lane] = is_far ? exponent : 0;
    is_scaled = is_scaled || is_far;
  }
  if (!is_scaled) return;
  scale_lanes(values_.data() + message.values, message.size, num_lanes, factors);
  for (std::size_t lane = 0; lane < num_lanes; ++lane) {
    largest[lane] *= factors[lane];
    least[lane] *= factors[lane];
    double& absolute = absolute_[message.extents + lane];
    if (absolute > 0.0) absolute = std::max(absolute * factors[lane], LinearError::kTiny);  // it must not vanish
  }
}

// Absolute errors: those of the inputs, and of products that were too small for a number.
void KeptElimination::note_losses(const Bucket& bucket) {
  const Table& message = program_->tables[bucket.message];
  const std::size_t num_lanes = program_->lanes_of(message);
  for (std::size_t lane = 0; lane < num_lanes; ++lane) {
    double product_of_largest = 1.0, product_of_least = 1.0, absolute = 0.0;
    const auto place = [&](int input) {
      const Table& table = program_->tables[input];
      return table.extents + (table.by_lane ? lane : 0);
    };
    for (const int input : bucket.inputs) {
      const std::size_t at = place(input);
      product_of_largest *= std::max(1.0, largest_[at] + absolute_[at]);
      product_of_least *= std::min(1.0, least_[at]);
      absolute += absolute_[at];
    }
    // Each product differs by at most the sum of the errors times the largest others.
    absolute *= static_cast<double>(bucket.num_states) * product_of_largest * LinearError::kSlack;
    if (product_of_least < LinearError::kNoUnderflow) absolute += LinearError::kTiny * product_of_largest;
    if (!(product_of_largest < LinearError::kMostProduct)) absolute = std::numeric_limits<double>::infinity();
    absolute_[message.extents + lane] = absolute;
  }
}

void KeptElimination::find_log_z() {
  const auto num_lanes = static_cast<std::size_t>(program_->num_lanes);
  // Exponents that all lanes share are summed once.
  double shared = 0.0;
  std::vector<double> exponents(num_lanes, 0.0);
  for (const Bucket& bucket : program_->buckets) {
    const double* const from = exponents_.data() + bucket.exponents;
    if (!program_->tables[bucket.message].by_lane) {
      shared += *from;
      continue;
    }
    for (std::size_t lane = 0; lane < num_lanes; ++lane) exponents[lane] += from[lane];
  }
  for (std::size_t lane = 0; lane < num_lanes; ++lane) {
    double product = 1.0, lost = 0.0, exponent = exponents[lane] + shared, num_logs = 0.0;
    for (const int root : program_->roots) {
      const Table& table = program_->tables[root];
      const std::size_t at = table.by_lane ? lane : 0;
      const double value = values_[table.values + at];
      if (absolute_[table.extents + at] > 0.0) lost += absolute_[table.extents + at] / value;
      product *= value;
      if (product > 0.0 && (product > kWide || product < 1.0 / kWide)) {
        const int by = std::ilogb(product);
        product = std::ldexp(product, -by);
        exponent += by;
      }
      ++num_logs;
    }
    log_z_error_[lane] = std::numeric_limits<double>::infinity();
    if (product == 0.0) {
      log_z_[lane] = kNegInf;
      if (lost == 0.0) log_z_error_[lane] = 0.0;
      continue;
    }
    const double high = exponent * kLn2High, rest = std::log(product) + exponent * kLn2Low;
    log_z_[lane] = high + (rest + log_constant_);
    if (!(lost <= kMostLostInLane)) continue;
    const double sizes = std::abs(high) + std::abs(rest) + std::abs(log_constant_) + std::abs(log_z_[lane]);
    log_z_error_[lane] = LinearError::kSlack * (leaf_error_ + 2.1 * lost + kEpsilon * num_logs) + log_constant_error_ +
                         2.0 * kEpsilon * sizes;
  }
}

double KeptElimination::log_z(int lane) const { return log_z_[static_cast<std::size_t>(lane)]; }
LogBounds KeptElimination::bounds(int lane) const {
  return LogBounds::around(log_z(lane), log_z_error_[static_cast<std::size_t>(lane)]);
}
bool KeptElimination::is_lossy(int lane) const {
  return log_z_error_[static_cast<std::size_t>(lane)] == std::numeric_limits<double>::infinity();
}

}  // namespace treesample
