// A set of numbers that arrive nearly in order, kept as ranges: the episodes that a run has taken, so that none counts
// twice. The number of ranges grows only with the numbers that were lost.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace treesample {

class NumberSet {
 public:
  // Returns false if the number was already there. Numbers are below 2^63.
  bool insert(std::uint64_t number);
  [[nodiscard]] bool contains(std::uint64_t number) const;

  // text() writes "0-17 19 21-30", and parse() reads it. parse() throws kParse.
  [[nodiscard]] std::string text() const;
  static NumberSet parse(const std::string& text);

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // first -> last; never adjacent
};

}  // namespace treesample
