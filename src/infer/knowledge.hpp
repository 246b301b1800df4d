// What is known of one question about one model. It only grows: methods add statements, and nobody edits the answer.
// Statements meet by algebra, so that their order does not matter:
//
//   bounds of log Z     are intersected; a contradiction is an error
//   estimates of it     the one of the greatest trust counts, within the bounds
//   configurations      the one of the largest density; the proof that leaves the least room for a better one
//   marginals           the ones of the greatest trust, exact ones variable by variable
//
// What follows from them is derived in fill(), once: whether log Z is exact, whether the configuration is optimal, how
// far it is off at most, why the work ended, and every sentence about the marginals.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "treesample/infer/answer.hpp"
#include "treesample/math/log_bounds.hpp"

namespace treesample {

// From the least to the most.
enum class Trust {
  kGuess,      // nothing is known of the error
  kSampled,    // with a standard error
  kCertified,  // with an error that is proved
  kExact,
};

// The best configuration, and what is proved of it.
class KnownBest {
 public:
  KnownBest() = default;
  explicit KnownBest(const Answer& answer);

  // The rounding of its log density, where that is known. Of equal ones the first stays.
  void offer(const Configuration& x, double rounding = HUGE_VAL);
  // No configuration is better than this one by more than the gap, which includes the rounding of this one's density.
  void prove(const Configuration& x, double gap);
  // Densities are noisy: the one that seems best stays, and nothing is proved of it.
  void doubt();
  // A proof was possible, but time or memory did not suffice.
  void give_up_proof() { is_given_up_ = true; }

  [[nodiscard]] const std::optional<Configuration>& best() const { return optimal_.x ? optimal_.x : best_.x; }
  // No configuration is better than best() by more.
  [[nodiscard]] std::optional<double> gap() const;
  [[nodiscard]] std::optional<bool> is_optimal() const;
  void fill(Answer& answer) const;

 private:
  struct Candidate {
    std::optional<Configuration> x;
    double rounding = HUGE_VAL, gap = HUGE_VAL;

    void take(const Candidate& other);
  };

  Candidate best_;               // the largest density
  Candidate optimal_;            // proved to be so: one that seems better is so by rounding
  std::optional<double> bound_;  // no density is above bound_ + bound_gap_, two numbers that may differ much in size
  double bound_gap_ = 0.0;
  bool is_given_up_ = false;
};

// Marginals of all variables, with errors of any kind.
struct MarginalStatement {
  Marginals values = {};
  Trust trust = Trust::kGuess;
  std::vector<double> errors = {};  // by variable; of a guess there are none
  double largest_error = HUGE_VAL;
  std::string from = {};           // where they come from: "from 1,000 weighted samples"
  std::string why_no_error = {};   // of a guess: why its error is not known; may be empty
  bool is_called_a_guess = false;  // they may be far off
};

class Knowledge {
 public:
  // ---- Statements --------------------------------------------------------------------------------------------------
  // Throws Error (kNumeric) where they contradict what is known.
  void bound(const LogBounds& log_z);
  // Of two of the same trust the larger one counts: what an estimate misses makes it too small.
  void estimate(double log_z, Trust trust);
  // Quotients of sums that are known up to `width_of_sums`, a difference of logarithms. Where a variable has no values,
  // nothing is said of it.
  void offer_solved(Marginals values, double width_of_sums, const std::string& by);
  void offer(MarginalStatement marginals);
  KnownBest best;

  // From statements about one model to those about another one, whose log densities are off by at most this.
  void widen(double log_error);
  // The values that all statements rest on are noisy: what remains of them is guesses.
  void doubt(const std::string& why);
  // Marginals of which no error is known are those of P_X. They may be far off where it has little of the target.
  void judge_guesses(bool has_little);

  // ---- What follows ------------------------------------------------------------------------------------------------
  [[nodiscard]] const LogBounds& bounds() const { return bounds_; }
  [[nodiscard]] bool is_exact() const { return bounds_.is_exact(); }
  // The estimate, otherwise the lower bound, where there is one.
  [[nodiscard]] std::optional<double> log_z() const;
  [[nodiscard]] bool has_marginals() const;
  // Sets everything that follows from the statements. `answer.stop` is the method's own reason before.
  void fill(Answer& answer) const;

 private:
  // Quotients of sums.
  struct Solved {
    Marginals values;
    double width = 0.0, log_error = 0.0;
    std::string by;
  };
  [[nodiscard]] bool is_solved_exact() const;
  [[nodiscard]] double solved_error() const;
  void fill_other(Answer& answer) const;
  void fill_solved(Answer& answer) const;
  void fill_stop(Answer& answer) const;

  LogBounds bounds_;
  bool is_bounded_ = false;  // bounds were stated, infinite ones perhaps
  std::optional<double> estimate_;
  Trust trust_ = Trust::kGuess;  // of the estimate
  std::optional<Solved> solved_;
  std::optional<MarginalStatement> other_;
  double other_log_error_ = 0.0;
};

}  // namespace treesample
