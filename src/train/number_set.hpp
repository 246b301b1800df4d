// A set of numbers that come nearly in order, kept as ranges: the episodes that a run has taken, so that none counts
// twice. A run of a million episodes needs as many ranges as numbers were lost.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace treesample {

class NumberSet {
 public:
  // False when the number was there already. Numbers are below 2^63.
  bool insert(std::uint64_t number);
  [[nodiscard]] bool contains(std::uint64_t number) const;

  // "0-17 19 21-30", and back. Throws kParse.
  [[nodiscard]] std::string text() const;
  static NumberSet parse(const std::string& text);

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // first -> last; never adjacent
};

}  // namespace treesample
