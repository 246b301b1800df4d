// Sweeps of eight chains at once, in vectors with an element per chain.
#include <algorithm>
#include <cstring>

#include "evaluate/annealing_model.hpp"
#include "math/dispatched.hpp"
#include "math/vector_kernels.hpp"

namespace treesample {
namespace {

using Lanes = double __attribute__((vector_size(kLanes * sizeof(double))));
using Bits = std::uint64_t __attribute__((vector_size(kLanes * sizeof(double))));
// The same in memory, at any address. Vectors are never handed over by value: how that is done depends on the machine.
using Stored = double __attribute__((vector_size(kLanes * sizeof(double)), aligned(8), may_alias));
using StoredBits = std::uint64_t __attribute__((vector_size(kLanes * sizeof(double)), aligned(8), may_alias));
using StoredStates = std::int32_t __attribute__((vector_size(kLanes * sizeof(std::int32_t)), aligned(4), may_alias));

TS_INLINE const Stored* stored(const double* lanes) { return reinterpret_cast<const Stored*>(lanes); }
TS_INLINE Stored* stored(double* lanes) { return reinterpret_cast<Stored*>(lanes); }

TS_INLINE void next_uniform(std::uint64_t (&state)[4][kLanes], Lanes& uniform) {
  StoredBits* const s = reinterpret_cast<StoredBits*>(&state[0][0]);
  Bits s0 = s[0], s1 = s[1], s2 = s[2], s3 = s[3];
  const Bits bits = s0 + s3, shifted = s1 << 17;
  s2 ^= s0;
  s3 ^= s1;
  s1 ^= s2;
  s0 ^= s3;
  s2 ^= shifted;
  s3 = (s3 << 45) | (s3 >> 19);
  s[0] = s0, s[1] = s1, s[2] = s2, s[3] = s3;
  const Bits of_one_to_two = (bits >> 12) | 0x3ff0000000000000U;
  std::memcpy(&uniform, &of_one_to_two, sizeof uniform);
  uniform -= 1.0;
}

// Adds the values of a term at all states of the variable to field[state], and to last[state] where it is final.
TS_INLINE void add_term(const AnnealingModel& model, const AnnealingModel::Term& term, const LaneStates& states,
                        int num_states, bool is_final, Stored* field, Stored* last) {
  std::int64_t place[kLanes] = {};
  for (int i = term.first_other; i < term.last_other; ++i) {
    const auto [other, stride] = model.others()[i];
    const int* const x = &states.x[static_cast<std::size_t>(other) * kLanes];
    for (int l = 0; l < kLanes; ++l) place[l] += x[l] * stride;
  }
  for (int a = 0; a < num_states; ++a) {
    const double* const e = term.entries + a * term.stride;
    const Lanes values = {e[place[0]], e[place[1]], e[place[2]], e[place[3]],
                          e[place[4]], e[place[5]], e[place[6]], e[place[7]]};
    field[a] += values;
    if (is_final) last[a] += values;
  }
}

// In two sums, so that additions need not wait for each other.
TS_INLINE void add_couplings(const AnnealingModel::Neighbour* first, const AnnealingModel::Neighbour* end,
                             const Stored* spin, Lanes& sum) {
  Lanes even = {}, odd = {};
  for (; first + 1 < end; first += 2) {
    even += first[0].coupling * spin[first[0].variable];
    odd += first[1].coupling * spin[first[1].variable];
  }
  if (first != end) even += first->coupling * spin[first->variable];
  sum = even + odd;
}

// What a sweep does with each variable: field[state] is the sum of all its factors, last[state] of those whose value is
// final once it is drawn.
enum class Kind { kMeasure, kForward, kBackward };

struct Step {
  double b = 0.0;
  const double* base = nullptr;  // log q of the variable's states
  Stored* sums = nullptr;        // may be null
};

TS_INLINE void draw_two(const Step& step, const Stored* field, const Lanes& uniform, Lanes& spin) {
  const double of_base = (1.0 - step.b) * (step.base[1] - step.base[0]);
  Lanes power;
  exp_each_of<Lanes, Bits>(step.b * (field[0] - field[1]) - of_base, power);
  const Lanes chance = 1.0 / (1.0 + power);
  spin = uniform < chance ? Lanes{} + 1.0 : Lanes{} - 1.0;
  if (step.sums == nullptr) return;
  step.sums[0] += 1.0 - chance;
  step.sums[1] += chance;
}

// Overwrites the field.
TS_INLINE void draw_many(const Step& step, int num_states, Stored* field, const Lanes& uniform, Lanes& state) {
  Lanes largest = Lanes{} - 1e300, total = {};
  for (int a = 0; a < num_states; ++a) {
    const Lanes value = step.b * field[a] + (1.0 - step.b) * step.base[a];
    field[a] = value;
    largest = largest > value ? largest : value;
  }
  for (int a = 0; a < num_states; ++a) {
    Lanes power;
    exp_each_of<Lanes, Bits>(field[a] - largest, power);
    field[a] = power;
    total += power;
  }
  const Lanes wanted = uniform * total;
  Lanes below = {};
  state = Lanes{};
  for (int a = 0; a + 1 < num_states; ++a) {
    below += field[a];
    state += below <= wanted ? Lanes{} + 1.0 : Lanes{};
  }
  if (step.sums == nullptr) return;
  for (int a = 0; a < num_states; ++a) step.sums[a] += field[a] / total;
}

TS_INLINE void sum_field(const AnnealingModel& model, const LaneStates& states, const AnnealingModel::Variable& here,
                         bool is_forward, Stored* field, Stored* last) {
  const double* const unary = model.unary() + here.first_state;
  for (int a = 0; a < here.num_states; ++a) field[a] = last[a] = Lanes{} + unary[a];
  for (int t = here.first_lower; t < here.last_upper; ++t) {
    const bool is_final = is_forward ? t < here.first_between : t >= here.first_upper;
    add_term(model, model.terms()[t], states, here.num_states, is_final, field, last);
  }
  if (here.last_above == here.first_below) return;
  // A variable with two states.
  const AnnealingModel::Neighbour* const neighbours = model.neighbours();
  Lanes below, above;
  add_couplings(neighbours + here.first_below, neighbours + here.first_above, stored(states.spin.data()), below);
  add_couplings(neighbours + here.first_above, neighbours + here.last_above, stored(states.spin.data()), above);
  const Lanes all = below + above, final = is_forward ? below : above;
  field[0] -= all;
  field[1] += all;
  last[0] -= final;
  last[1] += final;
}

TS_INLINE void sweep_all(const AnnealingModel& model, LaneStates& states, const BaseLogProbs& base, double b, Kind kind,
                         std::uint64_t (*random)[4][kLanes], double* sums) {
  Lanes log_density = Lanes{} + model.log_constant(), log_base = {}, uniform;
  const bool is_forward = kind != Kind::kBackward;
  const int count = model.num_variables();
  for (int i = 0; i < count; ++i) {
    const int v = is_forward ? i : count - 1 - i;
    const AnnealingModel::Variable& here = model.variable(v);
    const int num_states = here.num_states;
    Stored two[4];
    Stored* const field = num_states == 2 ? two : stored(states.scratch.data());
    Stored* const last = field + num_states;
    sum_field(model, states, here, is_forward, field, last);
    const double* const of_base = base.data() + here.first_state;
    const Step step{b, of_base, sums == nullptr ? nullptr : stored(sums) + here.first_state};
    if (kind != Kind::kMeasure) next_uniform(*random, uniform);
    StoredStates& x = *reinterpret_cast<StoredStates*>(&states.x[static_cast<std::size_t>(v) * kLanes]);
    Stored& spin = stored(states.spin.data())[v];
    if (num_states == 2) {
      Lanes drawn = spin;
      if (kind != Kind::kMeasure) {
        draw_two(step, field, uniform, drawn);
        spin = drawn;
        x = __builtin_convertvector(0.5 * drawn + 0.5, StoredStates);
      }
      log_density += drawn > 0.0 ? last[1] : last[0];
      log_base += drawn > 0.0 ? Lanes{} + of_base[1] : Lanes{} + of_base[0];
      continue;
    }
    if (kind != Kind::kMeasure) {
      Lanes drawn;
      draw_many(step, num_states, field, uniform, drawn);
      x = __builtin_convertvector(drawn, StoredStates);
    }
    for (int l = 0; l < kLanes; ++l) {
      log_density[l] += last[x[l]][l];
      log_base[l] += of_base[x[l]];
    }
  }
  *stored(states.log_density) = log_density;
  *stored(states.log_base) = log_base;
}

TS_DISPATCHED void measure_all(const AnnealingModel& model, LaneStates& states, const BaseLogProbs& base) {
  sweep_all(model, states, base, 1.0, Kind::kMeasure, nullptr, nullptr);
}

TS_DISPATCHED void sweep_forward(const AnnealingModel& model, LaneStates& states, const BaseLogProbs& base, double b,
                                 std::uint64_t (*random)[4][kLanes], double* sums) {
  sweep_all(model, states, base, b, Kind::kForward, random, sums);
}

TS_DISPATCHED void sweep_backward(const AnnealingModel& model, LaneStates& states, const BaseLogProbs& base, double b,
                                  std::uint64_t (*random)[4][kLanes]) {
  sweep_all(model, states, base, b, Kind::kBackward, random, nullptr);
}

}  // namespace

void AnnealingModel::draw_base(LaneStates& states, const BaseLogProbs& base, LaneRandom& random) const {
  for (int v = 0; v < num_variables(); ++v) {
    Lanes uniform, state = {};
    next_uniform(random.state_, uniform);
    double below = 0.0;
    for (int a = 0; a + 1 < num_states(v); ++a) {
      below += exp_one(base[first_state(v) + a]);
      state += below <= uniform ? Lanes{} + 1.0 : Lanes{};
    }
    for (int l = 0; l < kLanes; ++l) {
      const std::size_t place = static_cast<std::size_t>(v) * kLanes + l;
      states.x[place] = static_cast<int>(state[l]);
      states.spin[place] = states.x[place] == 1 ? 1.0 : -1.0;
    }
  }
  measure(states, base);
}

void AnnealingModel::measure(LaneStates& states, const BaseLogProbs& base) const { measure_all(*this, states, base); }

void AnnealingModel::sweep(LaneStates& states, const BaseLogProbs& base, double b, LaneRandom& random,
                           double* sums) const {
  sweep_forward(*this, states, base, b, &random.state_, sums);
}

void AnnealingModel::sweep_back(LaneStates& states, const BaseLogProbs& base, double b, LaneRandom& random) const {
  sweep_backward(*this, states, base, b, &random.state_);
}

}  // namespace treesample
