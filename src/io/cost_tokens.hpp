// Words of files with costs, and what a cost is as a log-value.
#pragma once

#include <cstdint>
#include <string_view>

#include "source_text.hpp"

namespace treesample {

class CostTokens {
 public:
  explicit CostTokens(SourceText source) : source_(source) {}

  // The next word; empty at the end.
  std::string_view next();
  // The next word of this line; empty at its end, which is then passed.
  std::string_view next_in_line();
  void skip_line();
  // The same for a loose kind of JSON: a bracket, what stands between quotes, or a word; commas and colons are blanks,
  // and lines that begin with # are passed.
  std::string_view next_item();
  std::int64_t next_integer(std::string_view what, std::int64_t low, std::int64_t high);
  [[nodiscard]] std::int64_t integer(std::string_view token, std::string_view what, std::int64_t low,
                                     std::int64_t high) const;
  // Negative or not, finite.
  [[nodiscard]] double number(std::string_view token, std::string_view what) const;
  [[noreturn]] void fail(std::string_view token, std::string_view expected) const;
  [[nodiscard]] std::size_t num_bytes() const { return source_.text.size(); }

 private:
  SourceText source_;
  std::size_t at_ = 0;
};

}  // namespace treesample
