#include "exact/kept_kernels.hpp"

#include <algorithm>
#include <limits>

#include "math/dispatched.hpp"

namespace treesample {
namespace {

TS_INLINE double product_of_constants(const BlockLoop& loop, std::size_t block, std::size_t state) {
  double product = 1.0;
  for (const BlockInput& one : loop.constants) product *= one.values[one.offsets[block] + state * one.state_stride];
  return product;
}

TS_INLINE const double* run_of(const BlockInput& input, std::size_t block, std::size_t state) {
  return input.repeat > 1 ? input.spread : input.values + input.offsets[block] + state * input.state_stride;
}
TS_INLINE double* adjoint_run_of(const BlockInput& input, std::size_t block, std::size_t state) {
  return input.repeat > 1 ? input.spread_adjoint : input.adjoint + input.offsets[block] + state * input.state_stride;
}

// Each entry several times.
TS_INLINE void spread_repeated(const BlockLoop& loop, std::size_t block, std::size_t state) {
  for (const BlockInput& input : loop.runs) {
    if (input.repeat == 1) continue;
    const double* const from = input.values + input.offsets[block] + state * input.state_stride;
    const std::size_t size = loop.run / input.repeat;
    double* to = input.spread;
    if (input.repeat == 2) {
      TS_INDEPENDENT_ROUNDS
      for (std::size_t i = 0; i < size; ++i) to[2 * i] = to[2 * i + 1] = from[i];
    } else {
      for (std::size_t i = 0; i < size; ++i, to += input.repeat) std::fill_n(to, input.repeat, from[i]);
    }
  }
}
// The reverse.
TS_INLINE void add_repeated(const BlockLoop& loop, std::size_t block, std::size_t state) {
  for (const BlockInput& input : loop.runs) {
    if (input.repeat == 1 || input.adjoint == nullptr) continue;
    double* const to = input.adjoint + input.offsets[block] + state * input.state_stride;
    const std::size_t size = loop.run / input.repeat;
    double* from = input.spread_adjoint;
    if (input.repeat == 2) {
      TS_INDEPENDENT_ROUNDS
      for (std::size_t i = 0; i < size; ++i) to[i] += from[2 * i] + from[2 * i + 1];
    } else {
      for (std::size_t i = 0; i < size; ++i, from += input.repeat) {
        for (std::size_t k = 0; k < input.repeat; ++k) to[i] += from[k];
      }
    }
  }
}

// out (+)= constant * a * b, or the first so many of them.
template <int kRuns>
TS_INLINE void add_run(double* out, std::size_t size, bool is_first, double constant, const double* a,
                       const double* b) {
  if (is_first) {
    TS_INDEPENDENT_ROUNDS
    for (std::size_t r = 0; r < size; ++r) {
      out[r] = kRuns == 0 ? constant : kRuns == 1 ? constant * a[r] : constant * a[r] * b[r];
    }
  } else {
    TS_INDEPENDENT_ROUNDS
    for (std::size_t r = 0; r < size; ++r) {
      out[r] += kRuns == 0 ? constant : kRuns == 1 ? constant * a[r] : constant * a[r] * b[r];
    }
  }
}

TS_INLINE void set_product(double* out, std::size_t size, const double* a, const double* b) {
  TS_INDEPENDENT_ROUNDS
  for (std::size_t r = 0; r < size; ++r) out[r] = a[r] * b[r];
}

// In eight parallel sums.
TS_INLINE double sum_of_products(const double* a, const double* b, std::size_t size) {
  constexpr std::size_t kWays = 8;
  double sums[kWays] = {};
  std::size_t r = 0;
  for (; r + kWays <= size; r += kWays) {
    for (std::size_t k = 0; k < kWays; ++k) sums[k] += a[r + k] * b[r + k];
  }
  double sum = 0.0;
  for (const double part : sums) sum += part;
  for (; r < size; ++r) sum += a[r] * b[r];
  return sum;
}
TS_INLINE double sum_of(const double* a, std::size_t size) {
  double sum = 0.0;
  for (std::size_t r = 0; r < size; ++r) sum += a[r];
  return sum;
}

// The adjoint of constant number i is `dot` times the other constants.
TS_INLINE void add_to_constants(const BlockLoop& loop, std::size_t block, std::size_t state, double dot) {
  for (std::size_t i = 0; i < loop.constants.size(); ++i) {
    const BlockInput& one = loop.constants[i];
    if (one.adjoint == nullptr) continue;
    double others = dot;
    for (std::size_t j = 0; j < loop.constants.size(); ++j) {
      const BlockInput& other = loop.constants[j];
      if (j != i) others *= other.values[other.offsets[block] + state * other.state_stride];
    }
    one.adjoint[one.offsets[block] + state * one.state_stride] += others;
  }
}

// A repeated run gets its adjoint whole, all others add to theirs.
template <bool kIsRepeated>
TS_INLINE void put(double* to, double value) {
  *to = kIsRepeated ? value : *to + value;
}

template <bool kIsRepeated>
TS_INLINE void add_adjoint_as(double* to, std::size_t size, double constant, const double* a, const double* b) {
  TS_INDEPENDENT_ROUNDS
  for (std::size_t r = 0; r < size; ++r)
    put<kIsRepeated>(to + r, b == nullptr ? constant * a[r] : constant * a[r] * b[r]);
}

TS_INLINE void add_adjoint(const BlockInput& input, std::size_t block, std::size_t state, std::size_t size,
                           double constant, const double* a, const double* b) {
  if (input.adjoint == nullptr) return;
  double* const to = adjoint_run_of(input, block, state);
  if (input.repeat > 1) {
    add_adjoint_as<true>(to, size, constant, a, b);
  } else {
    add_adjoint_as<false>(to, size, constant, a, b);
  }
}

template <bool kIsFirstRepeated, bool kIsSecondRepeated>
TS_INLINE void add_two_as(double* to_first, double* to_second, std::size_t size, double constant, const double* g,
                          const double* a, const double* b) {
  TS_INDEPENDENT_ROUNDS
  for (std::size_t r = 0; r < size; ++r) {
    const double scaled = constant * g[r];
    put<kIsFirstRepeated>(to_first + r, scaled * b[r]);
    put<kIsSecondRepeated>(to_second + r, scaled * a[r]);
  }
}

// Of the only two runs.
TS_INLINE void add_two_adjoints(const BlockLoop& loop, std::size_t block, std::size_t state, double constant,
                                const double* g, const double* a, const double* b) {
  const BlockInput &first = loop.runs[0], &second = loop.runs[1];
  if (first.adjoint == nullptr || second.adjoint == nullptr || (first.repeat > 1 && second.repeat > 1)) {
    add_adjoint(first, block, state, loop.run, constant, g, b);
    add_adjoint(second, block, state, loop.run, constant, g, a);
    return;
  }
  double* const to_first = adjoint_run_of(first, block, state);
  double* const to_second = adjoint_run_of(second, block, state);
  if (first.repeat > 1) {
    add_two_as<true, false>(to_first, to_second, loop.run, constant, g, a, b);
  } else if (second.repeat > 1) {
    add_two_as<false, true>(to_first, to_second, loop.run, constant, g, a, b);
  } else {
    add_two_as<false, false>(to_first, to_second, loop.run, constant, g, a, b);
  }
}

// Returns the sum over the run of g times all runs, where it is wanted.
TS_INLINE double spread_runs(const BlockLoop& loop, std::size_t block, std::size_t state, double constant,
                             const double* g, bool wants_dot, double* scratch) {
  const std::size_t size = loop.run, count = loop.runs.size();
  if (count == 0) return wants_dot ? sum_of(g, size) : 0.0;
  if (count == 1) {
    add_adjoint(loop.runs[0], block, state, size, constant, g, nullptr);
    return wants_dot ? sum_of_products(g, run_of(loop.runs[0], block, state), size) : 0.0;
  }
  if (count == 2) {
    const double *const a = run_of(loop.runs[0], block, state), *const b = run_of(loop.runs[1], block, state);
    add_two_adjoints(loop, block, state, constant, g, a, b);
    if (!wants_dot) return 0.0;
    set_product(scratch, size, a, b);
    return sum_of_products(g, scratch, size);
  }
  // before[i] = g times the runs before i; then from the last one back, with the product of those behind.
  double *const before = scratch, *const behind = scratch + (count + 1) * size;
  std::copy_n(g, size, before);
  for (std::size_t i = 0; i < count; ++i) {
    set_product(before + (i + 1) * size, size, before + i * size, run_of(loop.runs[i], block, state));
  }
  for (std::size_t i = count; i-- > 0;) {
    const double* const values = run_of(loop.runs[i], block, state);
    add_adjoint(loop.runs[i], block, state, size, constant, before + i * size, i + 1 < count ? behind : nullptr);
    if (i + 1 == count) {
      std::copy_n(values, size, behind);
    } else {
      set_product(behind, size, behind, values);
    }
  }
  return wants_dot ? sum_of(before + count * size, size) : 0.0;
}

TS_DISPATCHED void sum_all_blocks(const BlockLoop& loop, double* out, double* scratch) {
  const std::size_t size = loop.run, count = loop.runs.size();
  for (std::size_t block = 0; block < loop.num_blocks; ++block, out += size) {
    bool is_first = true;
    for (std::size_t state = 0; state < loop.num_states; ++state) {
      const double constant = product_of_constants(loop, block, state);
      if (constant == 0.0) continue;
      spread_repeated(loop, block, state);
      const double* const a = count > 0 ? run_of(loop.runs[0], block, state) : nullptr;
      const double* const b = count > 1 ? run_of(loop.runs[1], block, state) : nullptr;
      if (count == 0) {
        add_run<0>(out, size, is_first, constant, a, b);
      } else if (count == 1) {
        add_run<1>(out, size, is_first, constant, a, b);
      } else if (count == 2) {
        add_run<2>(out, size, is_first, constant, a, b);
      } else {
        set_product(scratch, size, a, b);
        for (std::size_t i = 2; i + 1 < count; ++i) {
          set_product(scratch, size, scratch, run_of(loop.runs[i], block, state));
        }
        add_run<2>(out, size, is_first, constant, scratch, run_of(loop.runs[count - 1], block, state));
      }
      is_first = false;
    }
    if (is_first) std::fill_n(out, size, 0.0);
  }
}

TS_DISPATCHED void spread_all_adjoints(const BlockLoop& loop, const double* adjoint, double* scratch) {
  bool wants_dot = false;
  for (const BlockInput& one : loop.constants) wants_dot = wants_dot || one.adjoint != nullptr;
  for (std::size_t block = 0; block < loop.num_blocks; ++block) {
    const double* const g = adjoint + block * loop.run;
    for (std::size_t state = 0; state < loop.num_states; ++state) {
      const double constant = product_of_constants(loop, block, state);
      if (constant == 0.0 && !wants_dot) continue;
      spread_repeated(loop, block, state);
      const double dot = spread_runs(loop, block, state, constant, g, wants_dot, scratch);
      if (wants_dot) add_to_constants(loop, block, state, dot);
      add_repeated(loop, block, state);
    }
  }
}

TS_DISPATCHED void extents_of(const double* values, std::size_t count, std::size_t num_lanes, double* largest,
                              double* least) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::fill_n(largest, num_lanes, 0.0);
  std::fill_n(least, num_lanes, kInfinity);
  for (std::size_t i = 0; i < count; ++i, values += num_lanes) {
    TS_INDEPENDENT_ROUNDS
    for (std::size_t lane = 0; lane < num_lanes; ++lane) {
      const double value = values[lane];
      const double positive = value > 0.0 ? value : kInfinity;
      largest[lane] = value > largest[lane] ? value : largest[lane];
      least[lane] = positive < least[lane] ? positive : least[lane];
    }
  }
}

TS_DISPATCHED void scale_all(double* values, std::size_t count, std::size_t num_lanes, const double* factors) {
  for (std::size_t i = 0; i < count; ++i, values += num_lanes) {
    TS_INDEPENDENT_ROUNDS
    for (std::size_t lane = 0; lane < num_lanes; ++lane) values[lane] *= factors[lane];
  }
}

TS_DISPATCHED void scale_by_one(double* values, std::size_t count, double factor) {
  TS_INDEPENDENT_ROUNDS
  for (std::size_t i = 0; i < count; ++i) values[i] *= factor;
}

TS_DISPATCHED void mask_all(const double* values, double* adjoint, std::size_t count, std::size_t num_lanes,
                            const double* factors) {
  for (std::size_t i = 0; i < count; ++i, values += num_lanes, adjoint += num_lanes) {
    TS_INDEPENDENT_ROUNDS
    for (std::size_t lane = 0; lane < num_lanes; ++lane) {
      const double scaled = adjoint[lane] * factors[lane];
      adjoint[lane] = values[lane] == 0.0 ? 0.0 : scaled;
    }
  }
}

TS_DISPATCHED void mask_by_one(const double* values, double* adjoint, std::size_t count, double factor) {
  TS_INDEPENDENT_ROUNDS
  for (std::size_t i = 0; i < count; ++i) {
    const double scaled = adjoint[i] * factor;
    adjoint[i] = values[i] == 0.0 ? 0.0 : scaled;
  }
}

}  // namespace

void sum_blocks(const BlockLoop& loop, double* out, double* scratch) { sum_all_blocks(loop, out, scratch); }

void spread_adjoints(const BlockLoop& loop, const double* adjoint, double* scratch) {
  spread_all_adjoints(loop, adjoint, scratch);
}

void multiply_members(std::span<const GroupMember> members, std::size_t size, double* product) {
  for (std::size_t e = 0; e < size; ++e) product[e] = members[0].values[members[0].places[e]];
  for (const GroupMember& member : members.subspan(1)) {
    for (std::size_t e = 0; e < size; ++e) product[e] *= member.values[member.places[e]];
  }
}

void spread_group(std::span<const GroupMember> members, std::size_t size, const double* adjoint, double* scratch) {
  const std::size_t count = members.size();
  if (count == 1) {
    if (members[0].adjoint == nullptr) return;
    for (std::size_t e = 0; e < size; ++e) members[0].adjoint[members[0].places[e]] += adjoint[e];
    return;
  }
  double* const before = scratch;
  for (std::size_t e = 0; e < size; ++e) {
    double product = adjoint[e];
    if (product == 0.0) continue;
    for (std::size_t i = 0; i < count; ++i) {
      before[i] = product;
      product *= members[i].values[members[i].places[e]];
    }
    double behind = 1.0;
    for (std::size_t i = count; i-- > 0;) {
      const std::size_t place = members[i].places[e];
      if (members[i].adjoint != nullptr) members[i].adjoint[place] += before[i] * behind;
      behind *= members[i].values[place];
    }
  }
}

void lane_extents(const double* values, std::size_t count, std::size_t num_lanes, double* largest, double* least) {
  constexpr std::size_t kWays = 8;
  if (num_lanes > 1 || count < 2 * kWays) {
    extents_of(values, count, num_lanes, largest, least);
    return;
  }
  double most[kWays], fewest[kWays];
  extents_of(values, count / kWays, kWays, most, fewest);
  extents_of(values + count / kWays * kWays, count % kWays, 1, largest, least);
  for (const double value : most) *largest = std::max(*largest, value);
  for (const double value : fewest) *least = std::min(*least, value);
}

void scale_lanes(double* values, std::size_t count, std::size_t num_lanes, const double* factors) {
  if (num_lanes > 1) return scale_all(values, count, num_lanes, factors);
  scale_by_one(values, count, factors[0]);
}

void mask_lanes(const double* values, double* adjoint, std::size_t count, std::size_t num_lanes,
                const double* factors) {
  if (num_lanes > 1) return mask_all(values, adjoint, count, num_lanes, factors);
  mask_by_one(values, adjoint, count, factors[0]);
}

}  // namespace treesample
