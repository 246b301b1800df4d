// Sequences of a fixed length, written from left to right: DNA, molecules of blocks, configurations of a factor graph.
//
//   Sequences dna(4, 8, log_reward);       8 letters of 4 kinds; log_reward reads 8 whole numbers from 0 to 3
//
// An action appends its own number. Every state has one parent.
#pragma once

#include <functional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "treesample/error.hpp"
#include "treesample/program/environments/json_list.hpp"

namespace treesample {

class Sequences {
 public:
  using State = std::string;  // one character for each entry so far: its number
  using Reward = std::function<double(std::span<const int> entries)>;

  // `num_letters` for each place. Texts show letters of the alphabet, if there is one, and numbers otherwise.
  Sequences(std::vector<int> num_letters, Reward log_reward, std::string alphabet = {})
      : num_letters_(std::move(num_letters)), log_reward_(std::move(log_reward)), alphabet_(std::move(alphabet)) {
    check_argument(!num_letters_.empty(), "Sequences", "the length is 0, allowed are lengths from 1");
    const int most = alphabet_.empty() ? 256 : static_cast<int>(alphabet_.size());
    for (const int letters : num_letters_) check_range("Sequences", "number of letters", letters, 1, most);
    check_argument(alphabet_.find_first_of("\"\\") == std::string::npos, "Sequences",
                   "the alphabet has a quote or a backslash");
  }
  Sequences(int num_letters, int length, Reward log_reward, std::string alphabet = {})
      : Sequences(std::vector<int>(static_cast<std::size_t>(length), num_letters), std::move(log_reward),
                  std::move(alphabet)) {}

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
  [[nodiscard]] std::string text(const State& s) const {
    if (alphabet_.empty())
      return json_list(s | std::views::transform([](char c) { return static_cast<unsigned char>(c); }));
    std::string text = "\"";
    for (const char letter : s) text += alphabet_[static_cast<unsigned char>(letter)];
    return text + "\"";
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
  std::string alphabet_;
};

}  // namespace treesample
