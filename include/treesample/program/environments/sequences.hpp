// Sequences of a fixed length, written from left to right: DNA, molecules of blocks, configurations of a factor graph.
//
//   Sequences dna(4, 8, log_reward);       8 letters of 4 kinds; log_reward reads 8 whole numbers from 0 to 3
//
// An action appends its own number. Every state has one parent.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "treesample/error.hpp"

namespace treesample {

class Sequences {
 public:
  using State = std::string;  // one character for each entry so far: its number
  using Reward = std::function<double(std::span<const int> entries)>;

  // `num_letters` for each place.
  Sequences(std::vector<int> num_letters, Reward log_reward)
      : num_letters_(std::move(num_letters)), log_reward_(std::move(log_reward)) {
    check_argument(!num_letters_.empty(), "Sequences", "the length is 0, allowed are lengths from 1");
    for (const int letters : num_letters_) check_range("Sequences", "number of letters", letters, 1, 256);
  }
  Sequences(int num_letters, int length, Reward log_reward)
      : Sequences(std::vector<int>(static_cast<std::size_t>(length), num_letters), std::move(log_reward)) {}

  static State start() { return {}; }
  [[nodiscard]] bool is_end(const State& s) const { return s.size() == num_letters_.size(); }
  void actions(const State& s, auto&& emit) const {
    State next = s + '\0';
    for (int letter = 0; letter < num_letters_[s.size()]; ++letter) {
      next.back() = static_cast<char>(letter);
      emit(letter, next);
    }
  }
  [[nodiscard]] double reward(const State& s) const { return log_reward_(encode(s)); }
  // -1 for places that are not written yet.
  [[nodiscard]] std::vector<int> encode(const State& s) const {
    std::vector<int> entries(num_letters_.size(), -1);
    for (std::size_t i = 0; i < s.size(); ++i) entries[i] = static_cast<unsigned char>(s[i]);
    return entries;
  }
  static std::string text(const State& s) {
    std::string text = "(";
    for (const char letter : s) {
      if (text.size() > 1) text += ' ';
      text += std::to_string(static_cast<int>(static_cast<unsigned char>(letter)));
    }
    text += ')';
    return text;
  }

  // What trainers need besides.
  [[nodiscard]] int num_actions() const { return num_values(); }
  [[nodiscard]] int num_values() const {
    int most = 0;
    for (const int letters : num_letters_) most = std::max(most, letters);
    return most;
  }
  void parents(const State& s, auto&& emit) const {
    if (!s.empty()) emit(static_cast<int>(static_cast<unsigned char>(s.back())), s.substr(0, s.size() - 1));
  }

 private:
  std::vector<int> num_letters_;
  Reward log_reward_;
};

}  // namespace treesample
