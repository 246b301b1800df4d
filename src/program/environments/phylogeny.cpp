#include "treesample/program/environments/phylogeny.hpp"

#include <fmt/format.h>

#include <cmath>

namespace treesample {
namespace {

constexpr std::uint32_t kAnyLetter = ~std::uint32_t{0};

// A set of letters as bits.
std::uint32_t letters(char letter) { return letter == '-' ? kAnyLetter : std::uint32_t{1} << (letter & 31); }

bool is_leaf(std::string_view tree) { return tree.size() == 1; }
std::size_t species_of(std::string_view leaf) { return static_cast<std::size_t>(leaf.front() - 'a'); }

}  // namespace

Phylogeny::Phylogeny(std::vector<std::string> sequences, double temperature)
    : sequences_(std::move(sequences)), temperature_(temperature) {
  check_range("Phylogeny", "number of species", num_species(), 2, kMostSpecies);
  check_argument(temperature > 0.0 && std::isfinite(temperature), "Phylogeny",
                 fmt::format("the temperature is {}, allowed are numbers above 0", temperature));
  for (std::size_t i = 0; i < sequences_.size(); ++i) {
    check_argument(sequences_[i].size() == sequences_.front().size(), "Phylogeny",
                   fmt::format("sequence {} has {} letters, the first one has {}", i, sequences_[i].size(),
                               sequences_.front().size()));
    for (const char letter : sequences_[i]) {
      check_argument((letter >= 'A' && letter <= 'Z') || letter == '-', "Phylogeny",
                     fmt::format("sequence {} has the character {:?}, allowed are A to Z and -", i, letter));
    }
  }
}

Phylogeny::State Phylogeny::start() const {
  State forest;
  for (int i = 0; i < num_species(); ++i) forest.emplace_back(1, static_cast<char>('a' + i));
  return forest;
}

Phylogeny::State Phylogeny::joined(const State& s, std::size_t i, std::size_t j) {
  State next = s;
  next.erase(next.begin() + static_cast<std::ptrdiff_t>(j));
  next[i] = "(" + s[i] + "," + s[j] + ")";
  std::sort(next.begin(), next.end());
  return next;
}

std::pair<std::string_view, std::string_view> Phylogeny::halves(std::string_view tree) {
  std::size_t comma = 1;
  for (int depth = 0; depth > 0 || tree[comma] != ','; ++comma) {
    depth += tree[comma] == '(' ? 1 : tree[comma] == ')' ? -1 : 0;
  }
  return {tree.substr(1, comma - 1), tree.substr(comma + 1, tree.size() - comma - 2)};
}

int Phylogeny::mutations(std::string_view tree) const {
  int count = 0;
  // The letters that each position of a tree's root may have without a further mutation.
  const auto root = [&](auto& self, std::string_view part) -> std::vector<std::uint32_t> {
    std::vector<std::uint32_t> sets;
    if (is_leaf(part)) {
      for (const char letter : sequences_[species_of(part)]) sets.push_back(letters(letter));
      return sets;
    }
    const auto [left, right] = halves(part);
    sets = self(self, left);
    const std::vector<std::uint32_t> other = self(self, right);
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const std::uint32_t common = sets[i] & other[i];
      count += common == 0 ? 1 : 0;
      sets[i] = common != 0 ? common : sets[i] | other[i];
    }
    return sets;
  };
  root(root, tree);
  return count;
}

std::vector<int> Phylogeny::encode(const State& s) const {
  const auto n = sequences_.size();
  std::vector<int> sizes(n * n, 0);
  // Writes the pairs whose smallest tree is this one or within it; returns its species.
  const auto visit = [&](auto& self, std::string_view tree) -> std::vector<std::size_t> {
    if (is_leaf(tree)) return {species_of(tree)};
    const auto [left, right] = halves(tree);
    std::vector<std::size_t> all = self(self, left);
    const std::vector<std::size_t> others = self(self, right);
    for (const std::size_t a : all) {
      for (const std::size_t b : others) {
        sizes[std::min(a, b) * n + std::max(a, b)] = static_cast<int>(all.size() + others.size());
      }
    }
    all.insert(all.end(), others.begin(), others.end());
    return all;
  };
  for (const std::string& tree : s) visit(visit, tree);
  std::vector<int> entries;
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a + 1; b < n; ++b) entries.push_back(sizes[a * n + b]);
  }
  return entries;
}

}  // namespace treesample
