// Permutations, one item after the other: rankings, schedules, tours.
//
//   R(p) = exp(sum over places i of at[i][p_i] + sum over neighbours of after[p_i][p_(i+1)])
//
// An action appends the item of its number. Every state has one parent.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "treesample/error.hpp"
#include "treesample/program/environments/json_list.hpp"

namespace treesample {

class Permutations {
 public:
  using State = std::string;  // one character for each item so far: its number
  using Scores = std::vector<std::vector<double>>;

  Permutations(Scores at, Scores after) : at_(std::move(at)), after_(std::move(after)) {
    check_range("Permutations", "number of items", static_cast<std::int64_t>(at_.size()), 1, 64);
    check_argument(after_.size() == at_.size(), "Permutations", "`at` and `after` are of different sizes");
    for (const Scores* const scores : {&at_, &after_}) {
      for (const auto& row : *scores) {
        check_argument(row.size() == at_.size(), "Permutations", "a row of scores needs one number for each item");
      }
    }
  }

  static State start() { return {}; }
  [[nodiscard]] bool is_end(const State& s) const { return s.size() == at_.size(); }
  void actions(const State& s, auto&& emit) const {
    State next = s + '\0';
    for (std::size_t item = 0; item < at_.size(); ++item) {
      next.back() = static_cast<char>(item);
      if (s.find(next.back()) == State::npos) emit(static_cast<int>(item), next);
    }
  }
  [[nodiscard]] double reward(const State& s) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < s.size(); ++i) {
      sum += at_[i][static_cast<std::size_t>(s[i])];
      if (i > 0) sum += after_[static_cast<std::size_t>(s[i - 1])][static_cast<std::size_t>(s[i])];
    }
    return sum;
  }
  // -1 for places without an item yet.
  [[nodiscard]] std::vector<int> encode(const State& s) const {
    std::vector<int> entries(at_.size(), -1);
    std::copy(s.begin(), s.end(), entries.begin());
    return entries;
  }
  static std::string text(const State& s) { return json_list(s); }

  // What trainers need besides.
  [[nodiscard]] int num_actions() const { return num_values(); }
  [[nodiscard]] int num_values() const { return static_cast<int>(at_.size()); }
  void parents(const State& s, auto&& emit) const {
    if (!s.empty()) emit(static_cast<int>(s.back()), s.substr(0, s.size() - 1));
  }

 private:
  Scores at_, after_;
};

}  // namespace treesample
