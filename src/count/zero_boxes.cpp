#include "count/zero_boxes.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "model/table_index.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

enum class Side : std::uint8_t { kOne, kAllButOne, kAll };

// One box, while it grows from an entry.
class Growth {
 public:
  Growth(std::span<const int> num_states, std::span<const double> log_values)
      : num_states_(num_states),
        log_values_(log_values),
        strides_(table_strides(num_states)),
        seed_(num_states.size()) {}

  // Grows a box around the entry. It extends the sides in the cyclic order first, first + 1, ... of the scope.
  void grow(std::size_t entry, std::size_t first) {
    const std::size_t arity = num_states_.size();
    for (std::size_t i = 0; i < arity; ++i) {
      seed_[i] = static_cast<int>(entry / strides_[i] % static_cast<std::size_t>(num_states_[i]));
    }
    offsets_.assign(1, entry);
    sides_.assign(arity, Side::kOne);
    left_out_.assign(arity, 0);
    for (std::size_t step = 0; step < arity; ++step) grow_side((first + step) % arity);
  }

  [[nodiscard]] const std::vector<std::size_t>& entries() const { return offsets_; }
  [[nodiscard]] std::size_t num_literals() const {
    return static_cast<std::size_t>(
        std::count_if(sides_.begin(), sides_.end(), [](Side side) { return side != Side::kAll; }));
  }
  [[nodiscard]] ZeroBox box() const {
    ZeroBox result;
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      if (sides_[i] == Side::kAll) continue;
      const bool is_one = sides_[i] == Side::kOne;
      result.push_back({static_cast<int>(i), is_one ? seed_[i] : left_out_[i], is_one});
    }
    return result;
  }

 private:
  [[nodiscard]] bool is_zero_slab(std::size_t position, int state) const {
    const auto shift = static_cast<std::ptrdiff_t>(strides_[position]) * (state - seed_[position]);
    return std::all_of(offsets_.begin(), offsets_.end(), [&](std::size_t offset) {
      return log_values_[static_cast<std::size_t>(static_cast<std::ptrdiff_t>(offset) + shift)] == kNegInf;
    });
  }

  void grow_side(std::size_t position) {
    int num_failed = 0, failed = 0;
    for (int state = 0; state < num_states_[position] && num_failed < 2; ++state) {
      if (state == seed_[position] || is_zero_slab(position, state)) continue;
      ++num_failed;
      failed = state;
    }
    // With two states, "all but one" would just be the original state.
    if (num_failed == 2 || (num_failed == 1 && num_states_[position] == 2)) return;
    sides_[position] = num_failed == 1 ? Side::kAllButOne : Side::kAll;
    left_out_[position] = failed;
    const std::size_t size = offsets_.size();
    for (int state = 0; state < num_states_[position]; ++state) {
      if (state == seed_[position] || (num_failed == 1 && state == failed)) continue;
      const auto shift = static_cast<std::ptrdiff_t>(strides_[position]) * (state - seed_[position]);
      for (std::size_t i = 0; i < size; ++i) {
        offsets_.push_back(static_cast<std::size_t>(static_cast<std::ptrdiff_t>(offsets_[i]) + shift));
      }
    }
  }

  std::span<const int> num_states_;
  std::span<const double> log_values_;
  std::vector<std::size_t> strides_;
  std::vector<int> seed_;
  std::vector<std::size_t> offsets_;  // of the entries in the box
  std::vector<Side> sides_;
  std::vector<int> left_out_;
};

}  // namespace

std::vector<ZeroBox> cover_zeros(std::span<const int> num_states, std::span<const double> log_values) {
  std::vector<ZeroBox> boxes;
  std::vector<char> is_covered(log_values.size(), 0);
  Growth growth(num_states, log_values), best = growth;
  for (std::size_t entry = 0; entry < log_values.size(); ++entry) {
    if (log_values[entry] != kNegInf || is_covered[entry] != 0) continue;
    // Returns the box with the fewest literals among those that begin with each of the sides.
    best.grow(entry, 0);
    for (std::size_t first = 1; first < num_states.size() && best.num_literals() > 1; ++first) {
      growth.grow(entry, first);
      if (growth.num_literals() < best.num_literals()) std::swap(growth, best);
    }
    for (const std::size_t e : best.entries()) is_covered[e] = 1;
    boxes.push_back(best.box());
  }
  return boxes;
}

}  // namespace treesample
