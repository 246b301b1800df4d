// Searches that expand one state after the other, beginning at the start. A traversal goes from the start to a state
// that is not expanded, by the rule, and backs up the values of the states on its way:
//
//   search   goes where the bounds of Z are widest: the largest  exp(r + U(next)) - exp(r + L(next))
//   tree     the paper's Q-UCT (eq. 7), with Q(a) = r + V(next) and Q_phi(a) = r + value(next):
//            the largest  Q(a) + c max(Q_phi(a), epsilon) sqrt(visits of s) / (1 + visits of next)
//
// Where only ends have rewards, a traversal of the tree search does not stop at the first new state: it goes on to an
// end.
//
// States are the same for all paths that lead to them: what is solved is solved for all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "program/program_graph.hpp"
#include "program/program_rewards.hpp"
#include "space/run_watch.hpp"
#include "treesample/program/infer_program.hpp"

namespace treesample {

class ProgramSearch {
 public:
  enum class Rule { kGap, kQUct };

  ProgramSearch(ProgramGraph& graph, ProgramRewards& rewards, Rule rule, const ProgramOptions& options);

  // Until everything is solved or a limit is reached.
  StopReason run(const Limits& limits, const RunWatch& watch);
  // V of the rule q-uct at the start: of what was evaluated, and Q_phi elsewhere.
  [[nodiscard]] double estimate() const { return v(graph_.start()); }

 private:
  struct Belief {
    double lower = 0.0, upper = 0.0;  // of V; not used by q-uct
    double v = 0.0;                   // not used by the gap; of what is expanded or evaluated
    double prior = 0.0;               // the program's `value`; without it the log of p(s), see prior()
    std::uint32_t visits = 0;
    bool is_solved = false;
    bool is_pending = false;  // an end whose reward is about to be computed
    bool is_made = false;
  };
  using Path = std::vector<StateId>;

  void believe(StateId state);
  [[nodiscard]] double prior(StateId state) const;
  [[nodiscard]] double v(StateId state) const;
  [[nodiscard]] double score(StateId state, const Transition& transition) const;
  [[nodiscard]] const Transition* choose(StateId state) const;
  Path descend();
  const Transition* draw(StateId state);
  bool traverse();
  bool expand(StateId state);
  bool evaluate_pending();
  void back_up(const Path& path);
  void back_up(StateId state);
  [[nodiscard]] double gap() const;

  ProgramGraph& graph_;
  ProgramRewards& rewards_;
  const Rule rule_;
  const bool goes_to_ends_;  // each traversal: there is a reward to be paid for
  const double c_;
  const std::size_t batch_;
  Random random_;
  double sum_of_weights_ = 0.0;  // of log (weight / p(end)), over the ends that are known and possible
  std::int64_t num_weights_ = 0;
  std::vector<Belief> beliefs_;
  std::vector<Path> pending_;  // to ends, and to states below which all is solved or pending
  std::size_t num_pending_ends_ = 0;
};

}  // namespace treesample
