#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "treesample/text.hpp"

namespace treesample {
namespace {

// Optimal string alignment: Levenshtein's distance, but exchanging two neighbours counts as one step.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> distance(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        distance[i][j] = i + j;
        continue;
      }
      const std::size_t change = distance[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      distance[i][j] = std::min({change, distance[i - 1][j] + 1, distance[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        distance[i][j] = std::min(distance[i][j], distance[i - 2][j - 2] + 1);
      }
    }
  }
  return distance[a.size()][b.size()];
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

}  // namespace

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& words) {
  const std::string nearest = nearest_word(typed, words);
  return nearest.empty() ? "" : "; did you mean " + printable(nearest) + "?";
}

std::string nearest_word(std::string_view typed, const std::vector<std::string>& words) {
  constexpr std::size_t kLongest = 64;  // longer words are not compared
  if (typed.size() > kLongest) return {};
  const std::string wanted = lower_case(typed);
  std::string nearest;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const std::string& word : words) {
    const std::size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
    const std::size_t allowed = std::max<std::size_t>(1, letters / 3);
    if (word.size() > 2 * kLongest || word.size() > wanted.size() + allowed || wanted.size() > word.size() + allowed) {
      continue;
    }
    const std::size_t distance = edit_distance(wanted, lower_case(word));
    if (distance >= least || distance > allowed) continue;
    least = distance;
    nearest = word;
  }
  return nearest;
}

}  // namespace treesample
