// How often each way of proposing configurations has its turn: by what its proposals brought.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "treesample/math/random.hpp"

namespace treesample {

class ProposerShares {
 public:
  // `first` is the share before anything is known, and `least` is what it keeps.
  void add(std::string name, double first, double least) {
    names_.push_back(std::move(name));
    first_.push_back(first);
    least_.push_back(least);
    gains_.push_back(0.0);
    tries_.push_back(0.0);
    counts_.push_back(0);
  }
  [[nodiscard]] int size() const { return static_cast<int>(names_.size()); }
  [[nodiscard]] const std::string& name(int proposer) const { return names_[proposer]; }
  [[nodiscard]] std::int64_t count(int proposer) const { return counts_[proposer]; }
  [[nodiscard]] int pick(Random& random) const { return random.categorical(shares()); }
  void note_proposed(int proposer) { ++counts_[proposer]; }
  // What one proposal brought, between 0 and 1; earlier ones are forgotten by and by, as the search goes on.
  void note_gain(int proposer, double gain) {
    constexpr double kForget = 0.97;
    gains_[proposer] = kForget * gains_[proposer] + gain;
    tries_[proposer] = kForget * tries_[proposer] + 1.0;
  }

 private:
  [[nodiscard]] std::vector<double> shares() const {
    constexpr double kDoubt = 6.0;  // tries that count like `first`
    std::vector<double> shares;
    double total_gain = 0.0, total_tries = 0.0;
    for (int i = 0; i < size(); ++i) {
      total_gain += gains_[i];
      total_tries += tries_[i];
    }
    const double mean = total_tries > 0.0 ? total_gain / total_tries : 0.0;
    for (int i = 0; i < size(); ++i) {
      const double rate = mean > 0.0 ? (gains_[i] + kDoubt * mean) / (tries_[i] + kDoubt) / mean : 1.0;
      shares.push_back(least_[i] + first_[i] * rate);
    }
    return shares;
  }

  std::vector<std::string> names_;
  std::vector<double> first_, least_, gains_, tries_;
  std::vector<std::int64_t> counts_;
};

}  // namespace treesample
