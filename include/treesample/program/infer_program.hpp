// Answers about a model that is a program (program/program.hpp): log Z, objects in proportion to their weights, the
// best object, and expectations of functions of the object.
//
//   HashedProgram<Grid> grid;
//   const ProgramAnswer answer = infer_program(grid, {.samples = 100}, {.calls = 1000, .seconds = 10});
//   answer.log_z.lower <= log Z <= answer.log_z.upper       certified
//
// The methods:
//
//   exact      expands all states and evaluates all rewards
//   search     with bounds: needs `upper`; ends where the bounds meet
//   tree       the paper's tree search, with `value` as Q_phi
//   black-box  expands all states, evaluates as many rewards as it may, and learns the others from `encode`
//
// The sum over the objects that were evaluated is a certified lower bound of Z for all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "treesample/math/random.hpp"
#include "treesample/program/program.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

enum class ProgramMethod { kAuto, kExact, kSearch, kTree, kBlackBox };

struct ProgramOptions {
  ProgramMethod method = ProgramMethod::kAuto;
  int samples = 0;         // objects to draw
  std::uint64_t seed = 0;  // of the samples, ties and the learned rewards
  int batch = 1;           // rewards that may be computed at the same time
  // kAuto gives up the attempt to expand all states when there are more.
  std::int64_t most_states = 4'000'000;
  int max_steps = 100'000;  // a path of more actions than this is an error: the program never ends
  double c = 1.0;           // of the rule q-uct (tree search): how much is explored

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

// A way to an object: the actions by their places in the program's lists, and the states, the first of which is the
// start and the last of which is the end.
struct ProgramPath {
  std::vector<StateId> states;
  std::vector<int> actions;
  double log_weight = 0.0;  // of the object, where it was evaluated; otherwise what is believed
  double log_prob = 0.0;    // of the object, under the distribution that it was drawn from

  [[nodiscard]] StateId end() const { return states.back(); }
};

// A distribution over objects: exact, or what is believed so far. Objects that were neither evaluated nor guessed have
// probability 0.
class ProgramDistribution {
 public:
  virtual ~ProgramDistribution() = default;
  [[nodiscard]] virtual ProgramPath sample(Random& random) const = 0;
  // log of the sum of the weights.
  [[nodiscard]] virtual double log_z() const = 0;
  // Calls f(state, transition, probability) for each action that has a probability, and each state after all states
  // that lead to it: the probability that an object's path takes it. From these come expectations of all sums over
  // actions.
  using Visit = std::function<void(StateId state, const Transition& transition, double probability)>;
  virtual void for_each_action(const Visit& visit) const = 0;
  // Calls f(end, probability) for each end. Where objects are paths, an end stands for all that lead there.
  virtual void for_each_end(const std::function<void(StateId end, double probability)>& visit) const = 0;
};

struct ProgramAnswer : RunReport {    // stop, log_z (certified bounds), spent, seconds
  std::string method;                 // one line on what was done
  std::optional<double> estimate;     // of log Z
  std::optional<LogBounds> interval;  // of log Z, from samples, at this confidence
  double confidence = 0.0;
  bool is_exact = false;
  std::int64_t num_states = 0;   // that were seen
  std::int64_t num_ends = 0;     // that were seen
  std::int64_t num_rewards = 0;  // that are known
  std::optional<ProgramPath> best;
  bool is_best_optimal = false;  // certified
  std::vector<ProgramPath> samples;
  bool has_exact_samples = false;
  std::shared_ptr<const ProgramDistribution> distribution;  // null where nothing possible is known
  std::vector<std::string> remarks;                         // for whoever reads the answer
};

// Values of rewards that are known before: filled with what a run pays for, and written to a file by others.
class RewardMemory {
 public:
  virtual ~RewardMemory() = default;
  [[nodiscard]] virtual std::optional<double> find(const std::string& key) const = 0;
  virtual void add(const std::string& key, double log_reward) = 0;
  // Called after each batch.
  virtual void flush() {}
};

// Of the limits it uses calls, seconds, bytes and gap. The program must outlive the answer's distribution. Throws Error
// (kNumeric) for a log reward that is NaN or +inf, and (kArgument) for a cycle, a path that does not end, an end that
// is reached with different log rewards, and a state with other actions than before; the message shows the path.
ProgramAnswer infer_program(NumberedProgram& program, const ProgramOptions& options = {}, const Limits& limits = {},
                            const Observer& observer = {}, RewardMemory* memory = nullptr);

// Looks for mistakes in a program's declarations where few states are enough to see them: the first `most_states`
// states, breadth first. Counts the paths to each end, compares log_paths, calls everything twice, and evaluates up to
// `most_rewards` ends. Throws what infer_program throws; returns what it looked at, as a sentence.
std::string check_program(NumberedProgram& program, int most_states = 10'000, int most_rewards = 0);

}  // namespace treesample
