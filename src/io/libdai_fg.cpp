#include "libdai_fg.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "decimal_log.hpp"
#include "network_text.hpp"
#include "source_text.hpp"
#include "treesample/error.hpp"
#include "treesample/io/bif.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr std::string_view kFgBlanks = " \t\r\n\f\v";
constexpr std::int64_t kMaxLabel = std::int64_t{1} << 31;

struct FgFactor {
  std::vector<std::int64_t> labels;
  std::vector<double> log_values;  // the first variable fastest
};

class FgParser {
 public:
  explicit FgParser(SourceText source)
      : source_(source), entries_left_(kBifFreeEntries + static_cast<std::int64_t>(source.text.size())) {}

  FactorGraph parse() {
    const std::int64_t count = integer("the number of factors", 0, static_cast<std::int64_t>(source_.text.size()));
    for (std::int64_t m = 0; m < count; ++m) factors_.push_back(factor());
    if (const std::string_view token = next(); !token.empty()) fail(token, "nothing after the last factor");
    return graph();
  }

 private:
  std::string_view next() {
    const std::string_view text = source_.text;
    for (;;) {
      at_ = std::min(text.find_first_not_of(kFgBlanks, at_), text.size());
      if (at_ == text.size() || text[at_] != '#') break;
      at_ = std::min(text.find('\n', at_), text.size());
    }
    const std::size_t begin = at_;
    at_ = std::min(text.find_first_of(kFgBlanks, at_), text.size());
    return text.substr(begin, at_ - begin);
  }

  [[noreturn]] void fail(std::string_view token, std::string_view expected) const {
    const auto offset = static_cast<std::size_t>(token.data() - source_.text.data());
    throw_parse_error(source_, offset, fmt::format("expected {}, found {}", expected, quoted(source_, token)));
  }

  std::int64_t integer(std::string_view what, std::int64_t low, std::int64_t high) {
    const std::string_view token = next();
    std::int64_t value = 0;
    const char* const end = token.data() + token.size();
    const auto result = std::from_chars(token.data(), end, value);
    if (result.ec != std::errc{} || result.ptr != end || value < low || value > high) {
      fail(token, fmt::format("{} from {} to {}", what, low, high));
    }
    return value;
  }

  FgFactor factor() {
    FgFactor factor;
    std::set<std::int64_t> labels;
    const std::int64_t size = integer("a number of variables", 0, static_cast<std::int64_t>(source_.text.size()));
    for (std::int64_t i = 0; i < size; ++i) {
      factor.labels.push_back(integer("the label of a variable", 0, kMaxLabel));
      if (!labels.insert(factor.labels.back()).second) fail(last(), "a label that is not in this factor already");
    }
    std::int64_t num_entries = 1;
    for (const std::int64_t label : factor.labels) num_entries = with_states(num_entries, label);
    entries_left_ -= num_entries;
    factor.log_values.assign(static_cast<std::size_t>(num_entries), kNegInf);
    entries(factor);
    return factor;
  }

  // The number of entries with one more variable, whose number of states comes next.
  std::int64_t with_states(std::int64_t num_entries, std::int64_t label) {
    const int states = static_cast<int>(integer("a number of states", 1, FactorGraph::kMaxStates));
    const auto [known, is_new] = num_states_.emplace(label, states);
    if (!is_new && known->second != states) {
      fail(last(), fmt::format("{}, the number of states of variable {} in an earlier factor", known->second, label));
    }
    const std::int64_t allowed = std::min(entries_left_, FactorGraph::kMaxTableEntries);
    if (num_entries * states > allowed) {
      fail(last(), fmt::format("a table of at most the {} entries that are left in a file of this size", allowed));
    }
    return num_entries * states;
  }

  void entries(FgFactor& factor) {
    const auto size = static_cast<std::int64_t>(factor.log_values.size());
    std::vector<char> is_given(factor.log_values.size(), 0);
    const std::int64_t count = integer("a number of entries", 0, size);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = integer("the number of an entry", 0, size - 1);
      if (std::exchange(is_given[at], 1) != 0) fail(last(), "the number of another entry: this one is given twice");
      const std::string_view token = next();
      const std::optional<double> value = log_of_decimal(token);
      if (!value) fail(token, "a finite number of at least 0");
      factor.log_values[at] = *value;
    }
  }

  // The token before the present place, for messages.
  [[nodiscard]] std::string_view last() const {
    const std::size_t end = at_;
    std::size_t begin = end;
    while (begin > 0 && kFgBlanks.find(source_.text[begin - 1]) == std::string_view::npos) --begin;
    return source_.text.substr(begin, end - begin);
  }

  // The last variable of a scope varies fastest, so scopes are turned round.
  FactorGraph graph() {
    FactorGraph graph;
    std::map<std::int64_t, int> index;
    for (const auto& [label, states] : num_states_) {
      const int v = graph.add_variable({.num_states = states, .name = fmt::format("x{}", label)});
      index.emplace(label, v);
    }
    for (FgFactor& factor : factors_) {
      std::vector<int> scope;
      for (auto label = factor.labels.rbegin(); label != factor.labels.rend(); ++label) scope.push_back(index[*label]);
      graph.add_table(std::move(scope), std::move(factor.log_values));
    }
    return graph;
  }

  SourceText source_;
  std::size_t at_ = 0;
  std::int64_t entries_left_;
  std::map<std::int64_t, int> num_states_;  // by label
  std::vector<FgFactor> factors_;
};

}  // namespace

FactorGraph parse_libdai_fg(std::string_view text, std::string_view source_name) {
  return FgParser(source_text(text, source_name)).parse();
}

std::string format_libdai_fg(const FactorGraph& graph) {
  if (!graph.has_only_tables()) {
    throw Error(ErrorCode::kArgument, "only models of tables can be written as .fg: this one has functions");
  }
  std::vector<char> is_in_factor(static_cast<std::size_t>(graph.num_variables()), 0);
  std::string text;
  int num_factors = graph.num_factors();
  for (const Factor& factor : graph.factors()) {
    std::vector<int> scope(factor.scope().rbegin(), factor.scope().rend());
    std::vector<int> states;
    for (const int v : scope) {
      states.push_back(graph.num_states(v));
      is_in_factor[v] = 1;
    }
    const auto values = factor.log_values();
    const auto num_zeros = std::count(values.begin(), values.end(), kNegInf);
    text += fmt::format("\n{}\n{}\n{}\n{}\n", scope.size(), fmt::join(scope, " "), fmt::join(states, " "),
                        static_cast<std::ptrdiff_t>(values.size()) - num_zeros);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] == kNegInf) continue;
      text += fmt::format("{} ", i);
      append_network_entry(text, values[i]);
      text += '\n';
    }
  }
  for (int v = 0; v < graph.num_variables(); ++v) {  // a variable in no factor is said by a factor of ones
    if (is_in_factor[v] != 0) continue;
    ++num_factors;
    text += fmt::format("\n1\n{}\n{}\n{}\n", v, graph.num_states(v), graph.num_states(v));
    for (int s = 0; s < graph.num_states(v); ++s) text += fmt::format("{} 1\n", s);
  }
  return fmt::format("{}\n", num_factors) + text;
}

}  // namespace treesample
