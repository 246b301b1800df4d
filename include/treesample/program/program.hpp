// A model that is a program: it builds an object step by step.
//
//   struct Grid {                                          // an object is a place in a square of 10 x 10
//     using State = std::array<int, 3>;                    // x, y, and 1 at the end
//     State start() const { return {0, 0, 0}; }
//     bool is_end(const State& s) const { return s[2] == 1; }
//     void actions(const State& s, auto&& emit) const {    // emit(action, next state, log reward = 0)
//       if (s[0] < 9) emit(0, State{s[0] + 1, s[1], 0});
//       if (s[1] < 9) emit(1, State{s[0], s[1] + 1, 0});
//       emit(2, State{s[0], s[1], 1});
//     }
//     double reward(const State& s) const { return -0.1 * s[0] * s[1]; }   // a logarithm, of ends only
//   };
//   HashedProgram<Grid> grid;                              // numbers its states
//
// The target is a distribution over objects. The weight of an object is exp of the sum of all log rewards on a path to
// it: those of the actions, and that of the end. With V(end) = reward(end) and
//
//   V(s) = log sum over actions of s of exp(log reward + V(next state)),        log Z = V(start),
//
// every path would count. What counts once is said by `objects`:
//
//   kEnds    an object is an end, however many paths lead there, and all of them have the same sum of log rewards. Of
//            the actions that lead to one state only the first one that was found counts, so that every end has one
//            path. Ends must therefore say all there is to know about an object.
//   kPaths   an object is a sequence of actions. Where exp(log_paths(end)) sequences stand for the same object, the
//            weight of each is divided by that number. Ends may be the same for many objects.
//
// States are compared by value. What a program returns for a state must not change.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "treesample/error.hpp"

namespace treesample {

enum class ProgramObjects { kEnds, kPaths };

// The shape of `emit`, for the concept below.
template <class State>
struct EmitShape {
  void operator()(int action, const State& next, double log_reward = 0.0) const;
};

template <class P>
concept Program = requires(const P& program, const typename P::State& state, EmitShape<typename P::State> emit) {
  requires std::equality_comparable<typename P::State>;
  { program.start() } -> std::convertible_to<typename P::State>;
  { program.is_end(state) } -> std::convertible_to<bool>;
  program.actions(state, emit);
};

// What a program may define besides:
//
//   static constexpr ProgramObjects objects = ...   kEnds unless it says something else
//   struct Hash                                     of a state. Numbers, texts, and ranges and trivial structs of whole
//                                                   numbers without padding have one already
//   State merge(state)                              the canonical form of a state: states with the same one are the
//                                                   same
//   double reward(end)                              the log reward of an end. It is what costs: each end is evaluated
//                                                   once at most, and the limit on calls counts these evaluations.
//                                                   Without it, the limit counts calls of `actions`
//   double upper(state)                             never below V(state): makes an upper bound of log Z
//   double value(state)                             a guess of V(state): Q_phi of the tree search
//   double log_paths(end)                           see kPaths, which a program with log_paths has unless it says kEnds
//   std::vector<int> encode(end)                    features from which rewards are learned: a fixed number of whole
//                                                   numbers from 0, different for different ends. Without it, the
//                                                   numbers that the end consists of, or else the actions that led
//                                                   there
//   static constexpr bool ordered = true            the numbers of `encode` are quantities: ends whose numbers are near
//                                                   tend to have similar rewards
//   static constexpr bool shares_rewards = true     `reward` may be called by several threads at the same time
//   std::string text(state)                         for messages; JSON where other doors should read it
//   std::string action_text(state, action)          for messages
struct ProgramParts {
  ProgramObjects objects = ProgramObjects::kEnds;
  bool has_reward = false, has_upper = false, has_value = false, has_log_paths = false, has_encoding = false;
  bool is_ordered = false, shares_rewards = false;
};

// States are numbered in the order in which they are first seen.
using StateId = std::uint32_t;

struct Transition {
  double log_reward = 0.0;
  StateId next = 0;
  int action = 0;
};

// A program with numbered states, which is what all engines work on: a program in C++ (HashedProgram), in Python, or a
// process. Not for several threads.
class NumberedProgram {
 public:
  virtual ~NumberedProgram() = default;
  [[nodiscard]] virtual ProgramParts parts() const = 0;
  virtual StateId start() = 0;
  virtual bool is_end(StateId state) = 0;
  // Adds the actions of a state to `out`, in the program's order.
  virtual void actions(StateId state, std::vector<Transition>& out) = 0;
  // The log rewards of several ends, which may be computed at the same time. With `shares_rewards`, several threads may
  // ask for rewards of different ends.
  virtual void rewards(std::span<const StateId> ends, std::span<double> values) = 0;
  virtual double upper(StateId state) = 0;
  virtual double value(StateId state) = 0;
  virtual double log_paths(StateId end) = 0;
  // Without has_encoding, natural features: they may be missing (empty), negative, or too few to tell ends apart.
  virtual std::vector<int> encode(StateId end) = 0;
  // While this is on, an end is compared with its canonical form: a program whose `merge` changes whether a state is an
  // end, or its reward, makes Error (kArgument). Costs evaluations of rewards.
  virtual void compare_merged(bool is_on) = 0;
  // For messages.
  [[nodiscard]] virtual std::string text(StateId state) = 0;
  [[nodiscard]] virtual std::string action_text(StateId state, int action) = 0;
  // What an end's reward is remembered by in a journal: the same for the same state in every run.
  [[nodiscard]] virtual std::string key(StateId state) { return text(state); }
  // The number of states seen, and the memory that they take.
  [[nodiscard]] virtual std::size_t num_states() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

namespace program_detail {

inline std::uint64_t mix(std::uint64_t bits) {  // the finaliser of MurmurHash3: every bit depends on all others
  bits = (bits ^ (bits >> 33)) * 0xff51afd7ed558ccdULL;
  bits = (bits ^ (bits >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return bits ^ (bits >> 33);
}

template <class T>
std::uint64_t hash_of(const T& state) {
  if constexpr (requires { std::hash<T>()(state); }) {
    return mix(std::hash<T>()(state));
  } else if constexpr (std::ranges::input_range<T>) {
    std::uint64_t hash = 0x9e3779b97f4a7c15ULL;
    for (const auto& item : state) hash = mix(hash ^ hash_of(item)) + 1;
    return hash;
  } else {
    static_assert(std::has_unique_object_representations_v<T>, "the program needs a struct Hash for its states");
    std::uint64_t hash = sizeof(T);
    const auto* bytes = reinterpret_cast<const unsigned char*>(&state);
    for (std::size_t i = 0; i < sizeof(T); i += 8) {
      std::uint64_t word = 0;
      for (std::size_t k = i; k < i + 8 && k < sizeof(T); ++k) word = word << 8 | bytes[k];
      hash = mix(hash ^ word);
    }
    return hash;
  }
}

// The whole numbers that a state consists of; none where it has others.
template <class T>
std::vector<int> numbers_of(const T& state) {
  std::vector<int> numbers;
  if constexpr (std::ranges::input_range<T> && !std::is_convertible_v<T, std::string>) {
    if constexpr (std::is_integral_v<std::ranges::range_value_t<T>>) {
      for (const auto item : state) numbers.push_back(static_cast<int>(item));
    }
  }
  return numbers;
}

template <class T>
std::string text_of(const T& state) {
  if constexpr (std::is_convertible_v<T, std::string>) {
    return std::string(state);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(state);
  } else if constexpr (std::ranges::input_range<T>) {
    std::string text;
    for (const auto& item : state) text += (text.empty() ? "(" : ", ") + text_of(item);
    return text.empty() ? "()" : text + ")";
  } else {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&state);
    std::string text = "state ";
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      for (const int half : {bytes[i] >> 4, bytes[i] & 15}) text += "0123456789abcdef"[half];
    }
    return text;
  }
}

}  // namespace program_detail

// A program in C++: its states are kept once, in a table that finds them by value.
template <Program P>
class HashedProgram final : public NumberedProgram {
 public:
  using State = typename P::State;

  explicit HashedProgram(P program = P()) : program_(std::move(program)), slots_(kFirstSlots, kEmpty) {}

  [[nodiscard]] const P& program() const { return program_; }
  [[nodiscard]] const State& state(StateId id) const { return states_[id]; }
  // The number of a state, which gets one if it has none.
  StateId id_of(const State& given) {
    if constexpr (requires { program_.merge(given); }) {
      const State merged = program_.merge(given);
      if (compares_merged_) compare(given, merged);
      return find(merged);
    } else {
      return find(given);
    }
  }

  [[nodiscard]] ProgramParts parts() const override {
    ProgramParts parts;
    if constexpr (requires { P::objects; }) {
      parts.objects = P::objects;
    } else if constexpr (kHasLogPaths) {
      parts.objects = ProgramObjects::kPaths;
    }
    parts.has_reward = kHasReward;
    parts.has_upper = kHasUpper;
    parts.has_value = kHasValue;
    parts.has_log_paths = kHasLogPaths && parts.objects == ProgramObjects::kPaths;
    parts.has_encoding = kHasEncoding;
    if constexpr (requires { P::ordered; }) parts.is_ordered = P::ordered;
    if constexpr (requires { P::shares_rewards; }) parts.shares_rewards = P::shares_rewards;
    return parts;
  }
  StateId start() override { return id_of(program_.start()); }
  bool is_end(StateId id) override { return program_.is_end(states_[id]); }
  void actions(StateId id, std::vector<Transition>& out) override {
    const State state = states_[id];  // a copy: the states move in memory when there are more of them
    program_.actions(state, [&](int action, const State& next, double log_reward = 0.0) {
      out.push_back({log_reward, id_of(next), action});
    });
  }
  void rewards(std::span<const StateId> ends, std::span<double> values) override {
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if constexpr (kHasReward) {
        values[i] = program_.reward(states_[ends[i]]);
      } else {
        values[i] = 0.0;
      }
    }
  }
  double upper([[maybe_unused]] StateId id) override {
    if constexpr (kHasUpper) return program_.upper(states_[id]);
    return HUGE_VAL;
  }
  double value([[maybe_unused]] StateId id) override {
    if constexpr (kHasValue) return program_.value(states_[id]);
    return 0.0;
  }
  double log_paths([[maybe_unused]] StateId id) override {
    if constexpr (kHasLogPaths) return program_.log_paths(states_[id]);
    return 0.0;
  }
  std::vector<int> encode([[maybe_unused]] StateId id) override {
    if constexpr (kHasEncoding) return program_.encode(states_[id]);
    return program_detail::numbers_of(states_[id]);
  }
  void compare_merged(bool is_on) override { compares_merged_ = is_on; }
  [[nodiscard]] std::string text(StateId id) override { return text_of(states_[id]); }
  [[nodiscard]] std::string action_text([[maybe_unused]] StateId id, int action) override {
    if constexpr (requires { program_.action_text(states_[id], action); }) {
      return program_.action_text(states_[id], action);
    } else {
      return std::to_string(action);
    }
  }
  [[nodiscard]] std::size_t num_states() const override { return states_.size(); }
  [[nodiscard]] std::size_t bytes() const override {
    return states_.capacity() * sizeof(State) + slots_.capacity() * sizeof(StateId);
  }

 private:
  static constexpr bool kHasReward = requires(const P& p, const State& s) { p.reward(s); };
  static constexpr bool kHasUpper = requires(const P& p, const State& s) { p.upper(s); };
  static constexpr bool kHasValue = requires(const P& p, const State& s) { p.value(s); };
  static constexpr bool kHasLogPaths = requires(const P& p, const State& s) { p.log_paths(s); };
  static constexpr bool kHasEncoding = requires(const P& p, const State& s) { p.encode(s); };
  static constexpr StateId kEmpty = static_cast<StateId>(-1);
  static constexpr std::size_t kFirstSlots = 1024;  // a power of two, as always

  static std::uint64_t hash(const State& state) {
    if constexpr (requires { typename P::Hash; }) {
      return program_detail::mix(typename P::Hash()(state));
    } else {
      return program_detail::hash_of(state);
    }
  }
  std::string text_of(const State& state) const {
    if constexpr (requires { program_.text(state); }) {
      return program_.text(state);
    } else {
      return program_detail::text_of(state);
    }
  }
  void compare(const State& given, const State& merged) const {
    bool is_same = program_.is_end(given) == program_.is_end(merged);
    if constexpr (kHasReward) {
      if (is_same && program_.is_end(given)) is_same = is_close(program_.reward(given), program_.reward(merged));
    }
    if (is_same) return;
    throw Error(ErrorCode::kArgument, "program: merge makes " + text_of(given) + " the same as " + text_of(merged) +
                                          ", but they differ in `is_end` or `reward`");
  }
  static bool is_close(double a, double b) { return a == b || std::abs(a - b) <= 1e-9 * (1.0 + std::abs(a)); }
  // Linear probing: a slot holds a number of a state, and at most half of the slots are taken.
  StateId find(const State& state) {
    std::size_t slot = hash(state) & (slots_.size() - 1);
    for (; slots_[slot] != kEmpty; slot = (slot + 1) & (slots_.size() - 1)) {
      if (states_[slots_[slot]] == state) return slots_[slot];
    }
    const auto id = static_cast<StateId>(states_.size());
    if (id == kEmpty) throw Error(ErrorCode::kResource, "program: more than 4,294,967,295 states");
    states_.push_back(state);
    slots_[slot] = id;
    if (2 * states_.size() > slots_.size()) grow();
    return id;
  }
  void grow() {
    slots_.assign(2 * slots_.size(), kEmpty);
    for (std::size_t id = 0; id < states_.size(); ++id) {
      std::size_t slot = hash(states_[id]) & (slots_.size() - 1);
      while (slots_[slot] != kEmpty) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<StateId>(id);
    }
  }

  P program_;
  bool compares_merged_ = false;
  std::vector<State> states_;
  std::vector<StateId> slots_;
};

}  // namespace treesample
