#include "count/count_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace treesample {
namespace {

constexpr std::int64_t kDecisionsPerDecay = 128;
// Looking at the memory takes as long as looking at all atoms.
constexpr std::int64_t kDecisionsPerMemoryLook = 256, kAtomsPerDecision = 4;

// If the width is small compared with the number of variables, the guide decides alone; if the width is large, the
// guide counts little. This is how sharpSAT-TD (Korhonen and Järvisalo 2021) weighs decompositions against conflicts.
double weight_of_guide(double num_variables, double width) {
  constexpr double kMost = 1e7;
  return std::min(kMost, 100.0 * std::exp(std::min(50.0, num_variables / (width + 1.0))) / num_variables);
}

// The memory left for the cache after the problem and the search have taken theirs.
std::uint64_t cache_bytes(std::uint64_t memory_limit_bytes, const CountOptions& options, std::uint64_t fixed_bytes) {
  if (!options.has_cache || fixed_bytes >= memory_limit_bytes) return 0;
  return (memory_limit_bytes - fixed_bytes) / (options.keep_circuit ? 2 : 4) * (options.keep_circuit ? 1 : 3);
}

}  // namespace

CountSearch::CountSearch(CountProblem& problem, const DecompositionGuide& guide, std::uint64_t memory_limit_bytes,
                         const CountOptions& options, ExactCounts* exact)
    : problem_(problem),
      memory_limit_bytes_(memory_limit_bytes),
      options_(options),
      guide_(guide),
      trail_(problem, options.has_learning),
      components_(problem, problem.soft_tables, trail_),
      cache_(cache_bytes(memory_limit_bytes, options, trail_.bytes() + components_.bytes()), exact),
      exact_(exact),
      guide_weight_(weight_of_guide(static_cast<double>(problem.variables.size()), guide.width)),
      num_uses_(problem.variables.size(), 0),
      decisions_per_look_(std::max(kDecisionsPerMemoryLook, problem.num_atoms() / kAtomsPerDecision)) {}

void CountSearch::begin() {
  is_begun_ = true;
  is_solved_ = !trail_.is_consistent();
  if (is_solved_) return;
  components_.push_all();
  push_frame(0);
}

void CountSearch::run(const ShouldStop& should_stop) {
  if (!is_begun_) begin();
  StopCheck stop(should_stop);
  while (num_frames_ > 0) {
    const std::int64_t size = components_.component(frames_[num_frames_ - 1].component).num_atoms;
    if (stop.is_asked(20 + 10 * size) || num_decisions_ >= options_.most_decisions || is_out_of_memory_) return;
    step();
  }
  is_solved_ = true;
}

double CountSearch::share_done() const {
  if (is_solved_) return 1.0;
  double share = 0.0, open = 1.0;
  for (std::size_t i = 0; i < num_frames_; ++i) {
    const Frame& frame = frames_[i];
    const int num_states = frame.variable < 0 ? 1 : problem_.variables[frame.variable].num_states;
    const int num_branches = frame.num_done + (frame.is_branch_open ? 1 : 0) + num_states - frame.next_state;
    if (num_branches == 0) return share + open;
    open /= num_branches;
    share += open * frame.num_done;
    if (!frame.is_branch_open || frame.end_component == frame.first_component) return share;
    open /= static_cast<double>(frame.end_component - frame.first_component);
    const std::size_t num_begun = frame.next_component - frame.first_component;
    share += open * static_cast<double>(num_begun > 0 && i + 1 < num_frames_ ? num_begun - 1 : num_begun);
  }
  return share;
}

void CountSearch::step() {
  Frame& frame = frames_[num_frames_ - 1];
  if (frame.is_branch_open) {
    if (!frame.branch.is_zero() && frame.next_component < frame.end_component) {
      solve_next(frame);
    } else {
      close_branch(frame);
    }
  } else if (!frame.has_learned_end && !(frame.is_hidden && !frame.sum.is_zero()) && next_live_state(frame) >= 0) {
    open_branch(frame);
  } else {
    finish(frame);
  }
}

int CountSearch::next_live_state(const Frame& frame) const {
  if (frame.variable < 0) return frame.next_state == 0 ? 0 : -1;
  for (int number = frame.next_state; number < problem_.variables[frame.variable].num_states; ++number) {
    if (trail_.is_live(frame.variable, state_of(frame, number))) return number;
  }
  return -1;
}

void CountSearch::open_branch(Frame& frame) {
  const int number = next_live_state(frame);
  const int state = frame.variable < 0 ? 0 : state_of(frame, number);
  frame.next_state = number + 1;
  frame.branch_mark = trail_.mark();
  frame.cache_mark = cache_.mark();
  frame.is_branch_open = true;
  frame.first_component = frame.next_component = frame.end_component = components_.size();
  frame.branch = {};
  if (frame.variable >= 0) {
    if (++num_decisions_ % kDecisionsPerDecay == 0) trail_.decay_activity();
    if (num_decisions_ % decisions_per_look_ == 0) is_out_of_memory_ = !update_memory();
    if (!trail_.decide(problem_.variables[frame.variable].literal(state))) return;  // the next step closes the branch
  }
  frame.branch = split(frame, state);
  frame.end_component = components_.size();
}

CountNumber CountSearch::split(Frame& frame, int state) {
  if (exact_ != nullptr) {
    split_trace_.fixed.clear();
    split_trace_.free.clear();
    const CountNumber weight = components_.split(frame.component, &split_trace_);
    exact_->open_branch(split_trace_);
    return weight;
  }
  if (trace_ == nullptr || !trace_->is_kept()) return components_.split(frame.component);
  split_trace_ = {};
  const CountNumber weight = components_.split(frame.component, &split_trace_);
  using Decided = std::optional<std::pair<int, int>>;
  trace_->open_term(frame.trace, split_trace_, frame.variable < 0 ? Decided() : Decided({frame.variable, state}));
  return weight;
}

void CountSearch::close_branch(Frame& frame) {
  // Counts that were found next to an impossible component may be too small (docs/methods/zeros.md, section 4).
  if (frame.branch.is_zero() && has_siblings(frame) && options_.has_learning) cache_.take_back(frame.cache_mark);
  if (trace_ != nullptr) trace_->close_term(frame.trace, frame.branch.is_zero());
  if (exact_ != nullptr) exact_->close_branch(frame.branch.is_zero());
  frame.sum += frame.branch;
  frame.is_branch_open = false;
  ++frame.num_done;
  components_.shrink(frame.first_component);
  trail_.undo(frame.branch_mark);
  frame.has_learned_end = !trail_.assert_learned();
  if (shared_ != nullptr && num_waiting_ == 0 && !frame.branch.is_zero()) hand_over();
}

// The branch that was closed is possible, and so is what was searched before in the branches above it; nothing waits.
void CountSearch::hand_over() {
  cache_.hand_over([this](std::string_view key, std::uint64_t hash, const CachedCount& count) {
    shared_->store(key, hash, count, *exact_);
  });
}

void CountSearch::solve_next(Frame& frame) {
  const std::size_t component = frame.next_component++;
  ++num_components_;
  if (options_.has_cache) {
    components_.make_key(component, key_);
    hash_ = ComponentCache::hash(key_);
    if (const CachedCount* const count = cache_.find(key_, hash_)) {
      ++num_cache_hits_;
      take(frame, *count);
      return;
    }
    if (shared_ != nullptr && take_shared(frame)) return;
  }
  if (frame.next_component < frame.end_component) ++num_waiting_;
  push_frame(component);
}

bool CountSearch::take_shared(Frame& frame) {
  return shared_->find(key_, hash_, [&](const CachedCount& count, const ExactCounts& sums) {
    ++num_cache_hits_;
    frame.branch *= count.count;
    exact_->multiply(sums, count.node);
  });
}

void CountSearch::push_frame(std::size_t component) {
  if (num_frames_ == frames_.size()) frames_.emplace_back();
  Frame& frame = frames_[num_frames_];
  frame.component = component;
  frame.variable = num_frames_ == 0 ? -1 : agreed_variable(component);
  frame.first_state = first_state(frame.variable);
  frame.is_hidden = frame.variable >= 0 && problem_.variables[frame.variable].is_hidden;
  if (exact_ != nullptr) exact_->begin_sum();
  frame.next_state = frame.num_done = 0;
  frame.is_branch_open = frame.has_learned_end = false;
  frame.mark = trail_.mark();
  frame.sum = {};
  frame.key.assign(key_);
  frame.hash = hash_;
  ++num_frames_;
}

void CountSearch::take(Frame& frame, const CachedCount& found) {
  frame.branch *= found.count;
  if (exact_ != nullptr) exact_->multiply(found.node);
  if (trace_ != nullptr) frame.trace.children.push_back(found.node);
}

void CountSearch::finish(Frame& frame) {
  const CachedCount count{frame.sum, trace_ != nullptr   ? trace_->add_node(frame.trace)
                                     : exact_ != nullptr ? exact_->end_sum()
                                                         : 0};
  trail_.undo(frame.mark);
  if (--num_frames_ == 0) {
    result_ = count.count;
    exact_result_ = count.node;
    return;
  }
  if (frames_[num_frames_ - 1].next_component < frames_[num_frames_ - 1].end_component) --num_waiting_;
  const bool is_kept = options_.has_cache && cache_.store(frame.key, frame.hash, count);
  take(frames_[num_frames_ - 1], count);
  if (exact_ != nullptr && !is_kept) exact_->forget(count.node);
}

// Chooses by depth in the decomposition, recent contradictions and the number of remaining clauses; a hidden variable
// only if all are.
int CountSearch::choose_variable(std::size_t component) {
  const std::span<const std::uint32_t> atoms = components_.atoms(component);
  for (const std::uint32_t atom : atoms) num_uses_[problem_.variable_of_atom[atom]] = 0;
  for (const std::uint32_t clause : components_.clauses(component)) {
    for (const Literal literal : components_.literals(clause)) ++num_uses_[problem_.variable_of_atom[literal >> 1]];
  }
  int best = -1;
  bool is_hidden = true;  // the best one
  double best_score = 0.0;
  for (const std::uint32_t atom : atoms) {
    const int v = problem_.variable_of_atom[atom];
    if (v == best || !trail_.is_open(static_cast<int>(atom))) continue;
    const bool is_this_hidden = problem_.variables[v].is_hidden;
    if (is_this_hidden && !is_hidden) continue;
    const double score = 10.0 * trail_.activity(v) + num_uses_[v] - guide_weight_ * guide_.depths[v];
    if (best >= 0 && is_this_hidden == is_hidden && score <= best_score) continue;
    best = v;
    is_hidden = is_this_hidden;
    best_score = score;
  }
  return best;
}

int CountSearch::agreed_variable(std::size_t component) {
  constexpr std::size_t kSmall = 16;  // atoms: their searches are short
  if (shared_ == nullptr || components_.atoms(component).size() < kSmall) return choose_variable(component);
  if (const int v = shared_->agreed_variable(hash_); v >= 0 && v < std::ssize(problem_.variables)) {
    // The component of another key with the same hash may have hidden variables beside others.
    const CountVariable& variable = problem_.variables[v];
    const std::span<const std::uint32_t> atoms = components_.atoms(component);
    const bool is_here = std::any_of(atoms.begin(), atoms.end(), [&](std::uint32_t atom) {
      return problem_.variable_of_atom[atom] == v && trail_.is_open(static_cast<int>(atom));
    });
    if (is_here && !variable.is_hidden) return v;
  }
  const int v = choose_variable(component);
  shared_->agree(hash_, v);
  return v;
}

// Two searches differ at every second, or at every level.
int CountSearch::first_state(int variable) const {
  constexpr std::size_t kBits = 4;
  const bool is_first = variable < 0 || (number_ >> (num_frames_ % kBits) & 1U) == 0;
  return is_first ? 0 : problem_.variables[variable].num_states / 2;
}

bool CountSearch::update_memory() {
  std::uint64_t soft_bytes = 0;
  for (const SoftTable& table : problem_.soft_tables) soft_bytes += table.bytes();
  if (soft_bytes > memory_limit_bytes_ / 16) {
    soft_bytes = 0;
    for (SoftTable& table : problem_.soft_tables) {
      table.forget();
      soft_bytes += table.bytes();
    }
  }
  std::uint64_t frame_bytes = frames_.capacity() * sizeof(Frame);
  for (const Frame& frame : frames_) frame_bytes += frame.key.capacity();
  const std::uint64_t trace_bytes = trace_ == nullptr ? 0 : trace_->bytes();
  const std::uint64_t exact_bytes = exact_ == nullptr ? 0 : exact_->bytes();
  const std::uint64_t bytes =
      exact_bytes + trail_.bytes() + components_.bytes() + cache_.bytes() + soft_bytes + frame_bytes + trace_bytes;
  peak_bytes_ = std::max(peak_bytes_, bytes);
  return bytes <= memory_limit_bytes_;
}

void CountSearch::add_to(CountReport& report) const {
  report.num_decisions += num_decisions_;
  report.num_propagations += trail_.num_propagations();
  report.num_conflicts += trail_.num_conflicts();
  report.num_learned += trail_.num_learned();
  report.num_components += num_components_;
  report.num_cache_hits += num_cache_hits_;
  report.num_evicted += cache_.num_evicted();
  report.share_done = share_done();
  report.peak_bytes += peak_bytes_;
}

}  // namespace treesample
