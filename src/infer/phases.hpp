// The phases of `infer`. The tables in phases.cpp are the front page of this room: one has the phases of all methods,
// for models of tables and of functions, the other what follows every method.
//
// A method is a subset of rows. make_plan() keeps the rows of its method, each with the time by which it has to end;
// --explain prints them, and run_phases() runs the same rows from top to bottom. When its turn comes, a row is left out
// where is_worth_it() says that nothing is left for it to do. It gets a clock that ends with its share of the time, and
// states what it has found by then: an end of the time is no error, and what was begun is not thrown away.
//
// A new phase is a row and a function. Its share of the time stands in the row and nowhere else.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "infer/draft.hpp"
#include "infer/methods.hpp"
#include "infer/option_table.hpp"
#include "infer/run.hpp"

namespace treesample {

class CountBeside;
class CutsetSum;
struct AnnealedPhase;
struct BoundedSpace;
struct QUctResult;

// The latest end of a phase, as a share of the time that the method has. It is an earlier one where something is set
// for what follows.
struct End {
  double share = 1.0;
  double before_samples = 0.0;    // where samples were asked for
  double before_rejection = 0.0;  // where these are drawn by rejection, which takes longer
  double before_weights = 0.0;    // where importance samples follow
  double before_search = 0.0;     // where a search would take the place of this phase
  bool is_at_once = false;        // takes no time to speak of, and is not shown

  [[nodiscard]] double of(const Plan& plan) const;
};
inline constexpr End kAtOnce{.is_at_once = true};
inline constexpr bool kSharesBeginAgain = true;

// What the phases of one method have found so far, and leave to the later ones.
struct Findings {
  Draft draft;
  bool is_complete = false;  // the method's other rows have nothing to add
  bool is_given_up = false;  // the method could not do its work in time

  // Of elimination.
  std::shared_ptr<const Elimination> elimination;
  std::shared_ptr<LateRule> rule;  // when it is given up; it watches marginals and samples, too
  bool has_log_z = false;          // by elimination, before a search,
  double log_z_seconds = 0.0;      // which took so long

  // Of a search.
  std::shared_ptr<CountBeside> beside;               // counting, which takes turns with it; null once it is over
  std::optional<Configuration> first;                // a possible configuration, looked for at the start
  std::shared_ptr<BoundedSpace> space;               // what is searched, and its leaf values
  std::shared_ptr<const SearchResult> searched;      // null before the search
  bool is_unsolved = false;                          // the search with bounds ended by the time or the memory
  std::shared_ptr<const SearchApproximation> upper;  // P_U
  std::shared_ptr<const CutsetSum> cutset;
  std::shared_ptr<const AnnealedPhase> annealed;
  std::shared_ptr<const QUctResult> tree;  // of the tree search
};

struct Phase {
  const char* name;
  Ways ways;  // the methods that have this row
  End until;
  // Asked before a run, with nothing found, whether the row is planned; and again when its turn comes.
  bool (*is_worth_it)(const Findings& found, const Plan& plan);
  void (*run)(Findings& found, const Task& task, const PhaseClock& clock);
  bool shares_begin_again = false;  // after it, shares are shares of the time that is left
};

// The rows of the plan's method and what follows, with the times at which they end at the latest, if the method may
// work from `begin` to `end`, in seconds.
std::vector<PlannedPhase> planned_phases(const Plan& plan, double begin, double end);
// Runs the rows of the plan's method, from top to bottom, until its answer is complete.
void run_phases(Findings& found, const Task& task);
// Runs what follows every method.
void finish_phases(Findings& found, const Task& task);

}  // namespace treesample
