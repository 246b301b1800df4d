// Which configurations of an enumerated domain to evaluate next.
//
// The proposers, each a queue of configurations that is made anew with each plan:
//
//   likely      drawn without replacement from exp(mean + sd): P_X, tempered by what is not known
//   flat        the same from its square root
//   neighbours  of evaluated configurations, which are drawn by their mass: one variable differs
//   tables      those of the largest tables first, where there are tables
//   uniform     any
//
// Where there is noise, a configuration that was told may be proposed again. What an evaluation is worth is by how much
// it lowers the standard deviation, s: with that of the noise, t, exp(mean + sd) counts (1 - t / sqrt(s^2 + t^2))
// times, which is next to nothing where the value is known well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "blackbox/learned_target.hpp"
#include "blackbox/proposer_shares.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

class GridProposals {
 public:
  struct Proposal {
    std::size_t place = 0;
    int proposer = 0;
  };
  GridProposals(const LearnedTarget& target, std::span<const std::string> without);

  // Makes the queues again: `means` are log densities over the domain. `noise_sd` is 0 without noise.
  void plan(std::span<const double> means, bool has_guess, double noise_sd, Random& random);
  [[nodiscard]] std::optional<Proposal> next(Random& random);
  // This configuration is not to be proposed.
  void close(std::size_t place) { is_open_[place] = is_new_[place] = 0; }
  [[nodiscard]] bool is_open(std::size_t place) const { return is_open_[place] != 0; }
  // Neither told nor proposed, and allowed by the tables.
  [[nodiscard]] bool is_new(std::size_t place) const { return is_new_[place] != 0; }
  // What was told may be proposed again.
  void set_noisy();
  // A log density that is known now; `proposer` is -1 where nobody here proposed it.
  void note(std::size_t place, double log_density, int proposer);
  // A noisy one that was told again may be proposed once more.
  void note_again(std::size_t place, double log_density) {
    if (is_noisy_ && log_density != kNegInf) is_open_[place] = 1;
  }
  [[nodiscard]] const ProposerShares& shares() const { return shares_; }
  [[nodiscard]] std::size_t place_of(std::span<const int> x) const;
  [[nodiscard]] Assignment at(std::size_t place) const;
  // The log densities of the tables alone.
  [[nodiscard]] std::span<const double> tables() const { return tables_; }
  [[nodiscard]] std::size_t size() const { return tables_.size(); }
  [[nodiscard]] bool has_possible() const { return !told_.empty(); }
  // The best log density that is known. Pre: has_possible().
  [[nodiscard]] double best() const { return top_; }

 private:
  enum Way { kLikely, kFlat, kNeighbours, kTables, kUniform };
  void queue_by(Way way, std::span<const double> log_weights, Random& random);
  std::optional<std::size_t> neighbour(Random& random);
  std::optional<std::size_t> any(Random& random);
  std::vector<double> optimistic(std::span<const double> means, double noise_sd) const;

  const LearnedTarget& target_;
  std::vector<std::size_t> strides_;
  std::vector<double> tables_;
  bool has_tables_ = false;
  std::vector<unsigned char> is_open_, is_new_;
  bool is_noisy_ = false;
  std::vector<std::deque<std::size_t>> queues_;
  std::vector<int> ways_;  // of the proposers in shares_
  ProposerShares shares_;
  std::vector<std::pair<double, std::size_t>> told_;
  double top_ = -1e308;
};

}  // namespace treesample
