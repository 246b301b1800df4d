// The search of count(): decisions, components, cache. See treesample/count/count.hpp for what it computes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "count/component_cache.hpp"
#include "count/components.hpp"
#include "count/count_problem.hpp"
#include "count/decomposition.hpp"
#include "count/shared_counts.hpp"
#include "count/zero_trail.hpp"
#include "treesample/count/count.hpp"

namespace treesample {

// Certified bounds as numbers; equal if everything was searched.
struct CountBounds {
  CountNumber lower, upper;
};

class CountSearch {
 public:
  // The arguments must outlive it.
  CountSearch(CountProblem& problem, const DecompositionGuide& guide, std::uint64_t memory_limit_bytes,
              const CountOptions& options, ExactCounts* exact = nullptr);
  // Records the search as a circuit. Call it before run().
  void set_trace(CircuitTrace* trace) { trace_ = trace; }

  // From now on it looks up what other searches of the problem have counted, and lets them look up what it counts.
  // `number`: each search begins with other states. Needs exact counts.
  void share(SharedCounts& shared, int number) {
    shared_ = &shared;
    number_ = static_cast<std::uint32_t>(number);
  }

  // Searches until everything is searched or should_stop returns true. May be called again, and then continues.
  void run(const ShouldStop& should_stop);
  // Bounds from what was searched so far, relative to exp(log_constant). The search can continue afterwards.
  CountBounds bounds();
  [[nodiscard]] bool is_solved() const { return is_solved_; }
  // The number of the exact sum that is the result; none if the problem is impossible from the start.
  [[nodiscard]] std::optional<std::uint32_t> exact_result() const { return exact_result_; }
  [[nodiscard]] bool is_out_of_memory() const { return is_out_of_memory_; }
  [[nodiscard]] std::int64_t num_decisions() const { return num_decisions_; }
  [[nodiscard]] std::int64_t num_components() const { return num_components_; }
  // The finished share of the branches, as if all were equally long; 1 once everything is solved.
  [[nodiscard]] double share_done() const;
  // Memory that grows neither with the cache nor with what is learned.
  [[nodiscard]] std::uint64_t fixed_bytes() const { return trail_.bytes() + components_.bytes(); }
  // Adds to the fields of the report that the search knows; share_done is set.
  void add_to(CountReport& report) const;

 private:
  // A component whose variable is being decided, state by state.
  struct Frame {
    std::size_t component = 0;
    int variable = -1;       // -1 for the whole problem, which has one branch without a decision
    bool is_hidden = false;  // true if all variables of the component are hidden: its count is 0 or 1
    int first_state = 0;     // the states are tried in their order from this one on, and 0 follows the last
    int next_state = 0;      // the next state to try, counted from the first one
    int num_done = 0;        // branches
    bool is_branch_open = false;
    bool has_learned_end = false;  // true if learned clauses make the remaining states impossible
    ZeroTrail::Mark mark;          // when the component was split off
    ZeroTrail::Mark branch_mark;   // when the branch was opened
    CountNumber sum;               // of the finished branches
    CountNumber branch;            // of the open branch: weights and finished components
    std::size_t first_component = 0, next_component = 0, end_component = 0;  // of the open branch
    std::uint64_t cache_mark = 0;                                            // when the branch was opened
    std::string key;
    TermTrace trace;  // used if a circuit is recorded
    std::uint64_t hash = 0;
  };

  // True if the branch has several components.
  static bool has_siblings(const Frame& frame) { return frame.end_component - frame.first_component > 1; }
  void step();
  void open_branch(Frame& frame);
  CountNumber split(Frame& frame, int state);
  void close_branch(Frame& frame);
  void solve_next(Frame& frame);
  void finish(Frame& frame);
  void take(Frame& frame, const CachedCount& found);
  void push_frame(std::size_t component);
  [[nodiscard]] int choose_variable(std::size_t component);
  // The next number of a state to try that is live, or -1.
  [[nodiscard]] int next_live_state(const Frame& frame) const;
  [[nodiscard]] int state_of(const Frame& frame, int number) const {
    return (frame.first_state + number) % problem_.variables[frame.variable].num_states;
  }
  // The count of a component that another search has counted.
  bool take_shared(Frame& frame);
  // The same variable as other searches, if there are any.
  [[nodiscard]] int agreed_variable(std::size_t component);
  [[nodiscard]] int first_state(int variable) const;
  // Hands the cache over where everything beside its components is known to be possible.
  void hand_over();
  // False if there is too little memory to continue.
  bool update_memory();

  void begin();

  // Bounds of a search that is not finished: count_bounds.cpp.
  CountBounds bounds_of_frames();
  CountBounds bounds_of_branch(const Frame& frame, const CountBounds& inner);
  CountBounds bounds_of(std::size_t component);
  [[nodiscard]] CountNumber upper_bound_of_rest(const Frame& frame) const;
  CountNumber some_configuration(std::size_t component);

  CountProblem& problem_;
  const std::uint64_t memory_limit_bytes_;
  const CountOptions& options_;
  const DecompositionGuide& guide_;
  ZeroTrail trail_;
  ComponentStack components_;
  ComponentCache cache_;
  std::vector<Frame> frames_;
  std::size_t num_frames_ = 0;  // in use; frames beyond are kept for their memory
  CircuitTrace* trace_ = nullptr;
  ExactCounts* exact_;              // may be null
  SharedCounts* shared_ = nullptr;  // of several searches
  std::uint32_t number_ = 0;        // of this one among them
  int num_waiting_ = 0;             // frames with components that wait for the one that is searched
  SplitTrace split_trace_;
  CountNumber result_;
  std::optional<std::uint32_t> exact_result_;
  bool is_begun_ = false, is_solved_ = false, is_out_of_memory_ = false;
  double guide_weight_ = 0.0;
  std::vector<std::uint32_t> num_uses_;  // by variable, while one is chosen
  const std::int64_t decisions_per_look_;
  std::string key_;
  std::uint64_t hash_ = 0;
  std::int64_t num_decisions_ = 0, num_components_ = 0, num_cache_hits_ = 0;
  std::int64_t work_left_ = 0;  // for the search for single configurations
  std::uint64_t peak_bytes_ = 0;
};

}  // namespace treesample
