// Phylogenetic trees by parsimony (as PhyloGFN, Zhou et al. 2024): rooted trees of two children each, whose leaves are
// the species.
//
//   R(T) = exp(-(number of mutations that T needs, by Fitch's algorithm) / temperature)
//
// One begins with all species apart. Action i * n + j makes trees i < j of the forest the children of a new root. A
// tree of k species can be built in more than one order of joins. There are 1 * 3 * 5 * ... * (2n - 3) trees.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "treesample/error.hpp"

namespace treesample {

class Phylogeny {
 public:
  // A forest: its trees as text, ascending. A tree is the letter of a species, or (LEFT,RIGHT) with LEFT < RIGHT.
  using State = std::vector<std::string>;
  static constexpr int kMostSpecies = 10;

  // One sequence of letters for each species, all of the same length. A position has one letter, or `-` for any.
  explicit Phylogeny(std::vector<std::string> sequences, double temperature = 1.0);

  [[nodiscard]] State start() const;
  static bool is_end(const State& s) { return s.size() == 1; }
  void actions(const State& s, auto&& emit) const {
    for (std::size_t i = 0; i < s.size(); ++i) {
      for (std::size_t j = i + 1; j < s.size(); ++j) emit(action_of(i, j), joined(s, i, j));
    }
  }
  [[nodiscard]] double reward(const State& s) const { return -mutations(s.front()) / temperature_; }
  // The number of mutations on a tree.
  [[nodiscard]] int mutations(std::string_view tree) const;
  // For each pair of species the size of the smallest tree that has both; 0 where they are apart.
  [[nodiscard]] std::vector<int> encode(const State& s) const;

  // A tree, or a list of trees.
  static std::string text(const State& s) {
    std::string text;
    for (const std::string& tree : s) text += (text.empty() ? "\"" : ", \"") + tree + '"';
    return is_end(s) ? text : "[" + text + "]";
  }

  // What trainers need besides.
  [[nodiscard]] int num_actions() const { return num_species() * num_species(); }
  [[nodiscard]] int num_values() const { return num_species() + 1; }
  void parents(const State& s, auto&& emit) const {
    for (std::size_t t = 0; t < s.size(); ++t) {
      if (s[t].size() == 1) continue;
      const auto [left, right] = halves(s[t]);
      State parent = s;
      parent.erase(parent.begin() + static_cast<std::ptrdiff_t>(t));
      parent.emplace_back(left);
      parent.emplace_back(right);
      std::sort(parent.begin(), parent.end());
      const auto place = [&](std::string_view tree) {
        return static_cast<std::size_t>(std::find(parent.begin(), parent.end(), tree) - parent.begin());
      };
      emit(action_of(place(left), place(right)), parent);
    }
  }

 private:
  [[nodiscard]] int num_species() const { return static_cast<int>(sequences_.size()); }
  [[nodiscard]] int action_of(std::size_t i, std::size_t j) const {
    return static_cast<int>(i) * num_species() + static_cast<int>(j);
  }
  static State joined(const State& s, std::size_t i, std::size_t j);
  // The children of a tree.
  static std::pair<std::string_view, std::string_view> halves(std::string_view tree);

  std::vector<std::string> sequences_;
  double temperature_;
};

}  // namespace treesample
