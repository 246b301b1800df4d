#include "exact/table_structure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "math/compensated_sum.hpp"
#include "model/table_index.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr int kFewestCauses = 3;
constexpr int kMostStates = 64;  // of an effect
constexpr double kMostSlack = 1e-8;
constexpr double kLeastLog = -700.0;  // of an entry, relative to the largest one

class Recognition {
 public:
  Recognition(std::span<const int> num_states, std::span<const double> log_values)
      : num_states_(num_states), strides_(table_strides(num_states)), log_values_(log_values) {
    log_max_ = *std::max_element(log_values.begin(), log_values.end());
    values_.reserve(log_values.size());
    for (const double value : log_values) {
      values_.push_back(std::exp(value - log_max_));
      is_in_range_ = is_in_range_ && (value == kNegInf || value - log_max_ > kLeastLog);
    }
  }

  std::optional<TableStructure> structure() {
    if (log_max_ == kNegInf || !is_in_range_) return {};
    if (auto found = checked(as_product())) return found;
    if (auto found = as_present_effect()) return found;
    for (std::size_t place = 0; place < num_states_.size(); ++place) {
      if (std::ssize(num_states_) <= kFewestCauses || !is_conditional(place)) continue;
      for (const bool is_reversed : {false, true}) {
        if (auto found = as_max(place, is_reversed)) return found;
      }
    }
    return {};
  }

 private:
  [[nodiscard]] TableStructure as_product() const;
  [[nodiscard]] std::optional<double> constant_beside_product(std::size_t base) const;
  [[nodiscard]] std::optional<TableStructure> as_present_effect() const;
  [[nodiscard]] bool is_conditional(std::size_t place) const;
  [[nodiscard]] std::optional<TableStructure> as_max(std::size_t place, bool is_reversed) const;
  [[nodiscard]] std::optional<TableStructure> checked(TableStructure found) const;
  [[nodiscard]] double value_of(const TableStructure& found, std::size_t entry, std::vector<double>& z) const;

  [[nodiscard]] int state(std::size_t entry, std::size_t place) const {
    return static_cast<int>(entry / strides_[place]) % num_states_[place];
  }
  // The entry with another state at one place.
  [[nodiscard]] std::size_t moved(std::size_t entry, std::size_t place, int to) const {
    const auto steps = static_cast<std::ptrdiff_t>(to) - state(entry, place);
    return entry + static_cast<std::size_t>(steps * static_cast<std::ptrdiff_t>(strides_[place]));
  }

  std::span<const int> num_states_;
  std::vector<std::size_t> strides_;
  std::span<const double> log_values_;
  double log_max_ = 0.0;
  std::vector<double> values_;  // relative to the largest one
  bool is_in_range_ = true;
};

// By the largest entry and those that differ from it at one place.
TableStructure Recognition::as_product() const {
  const auto base = static_cast<std::size_t>(std::max_element(values_.begin(), values_.end()) - values_.begin());
  TableStructure found{.kind = TableStructure::Kind::kProduct, .log_scale = log_max_};
  for (std::size_t place = 0; place < num_states_.size(); ++place) {
    std::vector<double>& factor = found.steps.emplace_back();
    for (int x = 0; x < num_states_[place]; ++x) factor.push_back(values_[moved(base, place, x)]);
  }
  return found;
}

// The a of a - b prod_i q_i(x_i), from four entries around the base, of those that lose the fewest digits.
std::optional<double> Recognition::constant_beside_product(std::size_t base) const {
  double most = 1e-6;
  std::optional<double> constant;
  for (std::size_t i = 0; i < num_states_.size(); ++i) {
    for (std::size_t j = i + 1; j < num_states_.size(); ++j) {
      for (int s = 0; s < num_states_[i]; ++s) {
        for (int t = 0; t < num_states_[j]; ++t) {
          const std::size_t one = moved(base, i, s);
          const double a = values_[base], b = values_[one], c = values_[moved(base, j, t)],
                       d = values_[moved(one, j, t)];
          const double below = b + c - a - d, digits = std::abs(below) / (a + b + c + d);
          if (!(digits > most)) continue;
          most = digits;
          constant = (b * c - a * d) / below;
        }
      }
    }
  }
  return constant;
}

// The product is largest where the table is smallest.
std::optional<TableStructure> Recognition::as_present_effect() const {
  const auto base = static_cast<std::size_t>(std::min_element(values_.begin(), values_.end()) - values_.begin());
  const std::optional<double> constant = constant_beside_product(base);
  if (!constant || !(*constant > values_[base])) return {};
  const double product = *constant - values_[base];
  TableStructure found{
      .kind = TableStructure::Kind::kMax, .log_scale = log_max_, .num_states = 2, .start = {product, values_[base]}};
  for (std::size_t place = 0; place < num_states_.size(); ++place) {
    std::vector<double>& step = found.steps.emplace_back();
    for (int x = 0; x < num_states_[place]; ++x) {
      const double rise = values_[moved(base, place, x)] - values_[base];  // b (1 - q) of the others
      const double present = std::clamp(rise / product, 0.0, 1.0);
      step.push_back(std::clamp((product - rise) / product, 0.0, 1.0));
      step.push_back(present);
    }
  }
  return checked(std::move(found));
}

// The sums over the variable at this place are all the same.
bool Recognition::is_conditional(std::size_t place) const {
  if (num_states_[place] < 2 || num_states_[place] > kMostStates) return false;
  double least = std::numeric_limits<double>::infinity(), most = 0.0;
  for (std::size_t entry = 0; entry < values_.size(); ++entry) {
    if (state(entry, place) != 0) continue;
    double sum = 0.0;
    for (int y = 0; y < num_states_[place]; ++y) sum += values_[moved(entry, place, y)];
    least = std::min(least, sum);
    most = std::max(most, sum);
    if (most - least > kMostSlack * most) return false;
  }
  return true;
}

std::optional<TableStructure> Recognition::as_max(std::size_t place, bool is_reversed) const {
  const int num_effects = num_states_[place];
  TableStructure found{.kind = TableStructure::Kind::kMax,
                       .log_scale = log_max_,
                       .num_states = num_effects,
                       .effect = static_cast<int>(place)};
  for (int s = 0; s < num_effects; ++s) found.effect_state.push_back(is_reversed ? num_effects - 1 - s : s);
  const auto cumulative = [&](std::size_t entry, int y) {
    double sum = 0.0;
    for (int s = 0; s <= y; ++s) sum += values_[moved(entry, place, found.effect_state[s])];
    return sum;
  };
  // Where all causes are absent, every cumulative sum is largest: by the first one that is not 0 everywhere.
  std::size_t base = 0;
  for (int y = 0; y < num_effects; ++y) {
    double most = 0.0;
    for (std::size_t entry = 0; entry < values_.size(); ++entry) {
      if (state(entry, place) != 0) continue;
      const double sum = cumulative(entry, y);
      if (sum <= most) continue;
      most = sum;
      base = entry;
    }
    if (most > 0.0) break;
  }
  for (int y = 0; y < num_effects; ++y) found.start.push_back(values_[moved(base, place, found.effect_state[y])]);
  for (std::size_t i = 0; i < num_states_.size(); ++i) {
    std::vector<double>& step = found.steps.emplace_back();
    if (i == place) continue;
    for (int x = 0; x < num_states_[i]; ++x) {
      double before = 0.0;
      for (int y = 0; y < num_effects; ++y) {
        const double leak = cumulative(base, y);
        const double now = leak > 0.0 ? std::min(1.0, cumulative(moved(base, i, x), y) / leak) : 0.0;
        step.push_back(std::max(0.0, now - before));
        before = std::max(before, now);
      }
    }
  }
  return checked(std::move(found));
}

// As the chain of small tables has it; nothing is subtracted. `z` is for its use.
double Recognition::value_of(const TableStructure& found, std::size_t entry, std::vector<double>& z) const {
  if (found.kind == TableStructure::Kind::kProduct) {
    double product = 1.0;
    for (std::size_t place = 0; place < num_states_.size(); ++place) product *= found.steps[place][state(entry, place)];
    return product;
  }
  z.assign(found.start.begin(), found.start.end());
  for (std::size_t place = 0; place < num_states_.size(); ++place) {
    if (static_cast<int>(place) == found.effect) continue;
    const double* const step =
        found.steps[place].data() + static_cast<std::ptrdiff_t>(state(entry, place)) * found.num_states;
    double lower = 0.0, cumulative = 0.0;  // of z so far, and of the step
    for (int s = 0; s < found.num_states; ++s) {
      cumulative += step[s];
      const double stays = z[s] * cumulative;
      const double rises = lower * step[s];
      lower += z[s];
      z[s] = stays + rises;
    }
  }
  if (found.effect < 0) return z.back();
  const int y = state(entry, static_cast<std::size_t>(found.effect));
  const auto s = std::find(found.effect_state.begin(), found.effect_state.end(), y) - found.effect_state.begin();
  return z[static_cast<std::size_t>(s)];
}

// With the slack of its logarithms, where that is small: the largest difference that is seen, the rounding with which
// it was computed, and that of the logarithms of both the small tables and this one.
std::optional<TableStructure> Recognition::checked(TableStructure found) const {
  const auto num_causes = static_cast<double>(num_states_.size());
  double largest_log = std::abs(log_max_);
  for (const std::vector<double>& step : found.steps) {
    for (const double value : step) {
      if (value > 0.0) largest_log = std::max(largest_log, -std::log(value));
    }
  }
  const double rounding =
      kEpsilon * (num_causes * (2.0 * found.num_states + 8.0) + (4.0 * num_causes + 8.0) * (1.0 + largest_log));
  double most = 0.0;
  std::vector<double> z;
  for (std::size_t entry = 0; entry < values_.size(); ++entry) {
    const double value = value_of(found, entry, z);
    if (value == 0.0 && log_values_[entry] == kNegInf) continue;
    if (!(value > 0.0) || log_values_[entry] == kNegInf) return {};
    const double log_value = log_values_[entry] - log_max_;
    most = std::max(most, std::abs(std::log(value) - log_value) + 4.0 * kEpsilon * (1.0 + std::abs(log_value)));
    if (!(most + rounding <= kMostSlack)) return {};
  }
  found.log_slack = most + rounding;
  return found;
}

}  // namespace

double TableStructure::step(int place, int x, int before, int z) const {
  if (z < before) return 0.0;
  const auto first = steps[static_cast<std::size_t>(place)].begin() + static_cast<std::ptrdiff_t>(x) * num_states;
  if (z > before) return first[z];
  double sum = 0.0;
  for (int s = 0; s <= z; ++s) sum += first[s];
  return sum;
}

std::optional<TableStructure> table_structure(std::span<const int> num_states, std::span<const double> log_values) {
  if (std::ssize(num_states) < kFewestCauses) return {};
  return Recognition(num_states, log_values).structure();
}

}  // namespace treesample
