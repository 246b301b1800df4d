#include "treesample/io/bif.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bif_lexer.hpp"
#include "decimal_log.hpp"
#include "treesample/error.hpp"

namespace treesample {
namespace {

using IndexOf = std::unordered_map<std::string_view, int>;

// If a table has every row, a default has no effect: one of the two is a mistake.
constexpr std::string_view kTableAndDefault = "a block has both a table and a default, allowed is one of them";

// One probability block that is being read. A row is one combination of the parents' states, the last parent fastest;
// it holds num_states entries, one per state of the child.
struct Block {
  std::vector<int> scope;  // parents..., child
  int num_states = 1;
  std::size_t num_rows = 1;
  std::vector<double> log_values = {};
  std::vector<char> has_row = {};
  std::vector<double> default_row = {};  // empty if there is none
  bool has_table = false;
};

class BifParser {
 public:
  BifParser(std::string_view text, std::string_view source_name)
      : lexer_(source_text(text, source_name)),
        entries_left_(kBifFreeEntries + static_cast<std::int64_t>(text.size())) {}

  FactorGraph parse();

 private:
  void network();
  void variable();
  void type(Variable& variable, IndexOf& states);
  void probability();
  Block block_head(BifToken& child_token);
  void allocate(Block& block, const BifToken& place);
  void block_body(Block& block);
  void row(Block& block, const BifToken& place);
  void table(Block& block, const BifToken& place);
  void fill_from_default(Block& block, const BifToken& place) const;

  [[nodiscard]] std::string shown(std::string_view name) const { return quoted(lexer_.source(), name); }
  void expect_mark(char mark);
  int known_variable(const BifToken& token) const;
  // Reads `count` probabilities, followed by ';', and returns their logarithms.
  std::vector<double> entries(std::size_t count);

  BifLexer lexer_;
  FactorGraph graph_;
  IndexOf variables_;
  std::vector<IndexOf> states_;  // per variable
  std::vector<char> has_block_;  // per variable
  std::vector<int> last_child_;  // per variable: the child of the last block that named it
  std::int64_t entries_left_;    // see kBifFreeEntries
};

FactorGraph BifParser::parse() {
  BifToken token = lexer_.next();
  for (; token.kind != BifToken::Kind::kEnd; token = lexer_.next()) {
    if (token.is_word("network")) {
      network();
    } else if (token.is_word("variable")) {
      variable();
    } else if (token.is_word("probability")) {
      probability();
    } else {
      lexer_.fail(token, "'network', 'variable' or 'probability'");
    }
  }
  if (graph_.num_variables() == 0) lexer_.fail(token, "'variable': a network has at least one");
  const auto missing = std::find(has_block_.begin(), has_block_.end(), 0) - has_block_.begin();
  if (missing < graph_.num_variables()) {
    const std::string& name = graph_.variable(static_cast<int>(missing)).name;
    lexer_.fail(token, fmt::format("a probability block for variable {}", shown(name)));
  }
  return std::move(graph_);
}

void BifParser::expect_mark(char mark) {
  const BifToken token = lexer_.next();
  if (!token.is_mark(mark)) lexer_.fail(token, fmt::format("'{}'", mark));
}

int BifParser::known_variable(const BifToken& token) const {
  const auto found = token.kind == BifToken::Kind::kWord ? variables_.find(token.text) : variables_.end();
  if (found == variables_.end()) lexer_.fail(token, "the name of a variable declared above");
  return found->second;
}

// network [NAME] { property ...; }
void BifParser::network() {
  BifToken token = lexer_.next();
  if (token.kind == BifToken::Kind::kWord) token = lexer_.next();
  if (!token.is_mark('{')) lexer_.fail(token, "'{'");
  for (token = lexer_.next(); !token.is_mark('}'); token = lexer_.next()) {
    if (!token.is_word("property")) lexer_.fail(token, "'property' or '}'");
    lexer_.skip_property();
  }
}

// variable NAME { type discrete [ K ] { STATE, ... }; property ...; }
void BifParser::variable() {
  const BifToken name = lexer_.next();
  if (name.kind != BifToken::Kind::kWord) lexer_.fail(name, "the name of a variable");
  if (!variables_.emplace(name.text, graph_.num_variables()).second) {
    lexer_.fail_with(name, fmt::format("variable {} is declared twice", shown(name.text)));
  }
  Variable variable{.num_states = 0, .name = std::string(name.text)};
  IndexOf states;
  expect_mark('{');
  BifToken token = lexer_.next();
  for (; !token.is_mark('}'); token = lexer_.next()) {
    if (token.is_word("property")) {
      lexer_.skip_property();
    } else if (token.is_word("type") && variable.num_states == 0) {
      type(variable, states);
    } else {
      lexer_.fail(token, variable.num_states == 0 ? "'type' or 'property'" : "'property' or '}'");
    }
  }
  if (variable.num_states == 0) lexer_.fail(token, "'type'");
  graph_.add_variable(std::move(variable));
  states_.push_back(std::move(states));
  has_block_.push_back(0);
  last_child_.push_back(-1);
}

void BifParser::type(Variable& variable, IndexOf& states) {
  const BifToken kind = lexer_.next();
  if (!kind.is_word("discrete")) lexer_.fail(kind, "'discrete'");
  expect_mark('[');
  const BifToken count = lexer_.next();
  const char* const end = count.text.data() + count.text.size();
  const auto result = std::from_chars(count.text.data(), end, variable.num_states);
  if (result.ec != std::errc{} || result.ptr != end || variable.num_states < 1 ||
      variable.num_states > FactorGraph::kMaxStates) {
    lexer_.fail(count, fmt::format("a number of states from 1 to {}", FactorGraph::kMaxStates));
  }
  expect_mark(']');
  expect_mark('{');
  BifToken token = lexer_.next();
  for (; token.kind == BifToken::Kind::kWord; token = lexer_.next()) {
    if (!states.emplace(token.text, static_cast<int>(states.size())).second) {
      lexer_.fail_with(token, fmt::format("state {} is named twice", shown(token.text)));
    }
    variable.state_names.emplace_back(token.text);
  }
  if (!token.is_mark('}')) lexer_.fail(token, "the name of a state or '}'");
  if (static_cast<int>(states.size()) != variable.num_states) {
    lexer_.fail_with(token, fmt::format("expected {} names of states, found {}", variable.num_states, states.size()));
  }
  expect_mark(';');
}

// probability ( CHILD | PARENT, ... ) { table ...; (STATE, ...) ...; default ...; property ...; }
void BifParser::probability() {
  BifToken place;
  Block block = block_head(place);
  block_body(block);
  has_block_[block.scope.back()] = 1;
  try {
    graph_.add_table(std::move(block.scope), std::move(block.log_values));
  } catch (const Error& error) {
    lexer_.fail_with(place, fmt::format("the table of variable {}: {}", shown(place.text), error.what()));
  }
}

Block BifParser::block_head(BifToken& child_token) {
  expect_mark('(');
  child_token = lexer_.next();
  const int child = known_variable(child_token);
  if (has_block_[child] != 0) {
    lexer_.fail_with(child_token, fmt::format("variable {} has a probability block already", shown(child_token.text)));
  }
  Block block;
  last_child_[child] = child;
  BifToken token = lexer_.next();
  if (token.is_mark('|')) token = lexer_.next();
  for (; token.kind == BifToken::Kind::kWord; token = lexer_.next()) {
    const int parent = known_variable(token);
    if (std::exchange(last_child_[parent], child) == child) {
      lexer_.fail_with(token, fmt::format("variable {} is named twice", shown(token.text)));
    }
    block.scope.push_back(parent);
  }
  if (!token.is_mark(')')) lexer_.fail(token, "the name of a parent or ')'");
  block.scope.push_back(child);
  block.num_states = graph_.num_states(child);
  allocate(block, child_token);
  return block;
}

// Checks both limits on entries before anything is allocated.
void BifParser::allocate(Block& block, const BifToken& place) {
  const std::int64_t allowed = std::min(entries_left_, FactorGraph::kMaxTableEntries);
  std::int64_t num_entries = 1;
  for (const int v : block.scope) {
    num_entries *= graph_.num_states(v);
    if (num_entries > allowed) {
      lexer_.fail_with(
          place,
          fmt::format("the table of variable {} has more than the {} entries that are left in a file of this size",
                      shown(place.text), allowed));
    }
  }
  entries_left_ -= num_entries;
  block.num_rows = static_cast<std::size_t>(num_entries / block.num_states);
  block.log_values.resize(static_cast<std::size_t>(num_entries));
  block.has_row.resize(block.num_rows, 0);
}

void BifParser::block_body(Block& block) {
  expect_mark('{');
  BifToken token = lexer_.next();
  for (; !token.is_mark('}'); token = lexer_.next()) {
    if (token.is_word("property")) {
      lexer_.skip_property();
    } else if (token.is_word("table")) {
      table(block, token);
    } else if (token.is_word("default") && block.default_row.empty()) {
      if (block.has_table) lexer_.fail_with(token, kTableAndDefault);
      block.default_row = entries(static_cast<std::size_t>(block.num_states));
    } else if (token.is_mark('(')) {
      row(block, token);
    } else {
      lexer_.fail(token,
                  block.default_row.empty() ? "'table', 'default', 'property', '(' or '}'" : "'property', '(' or '}'");
    }
  }
  fill_from_default(block, token);
}

// (STATE of each parent) ENTRIES;
void BifParser::row(Block& block, const BifToken& place) {
  std::size_t index = 0;
  for (std::size_t i = 0; i + 1 < block.scope.size(); ++i) {
    const int parent = block.scope[i];
    const BifToken token = lexer_.next();
    const IndexOf& states = states_[parent];
    const auto state = token.kind == BifToken::Kind::kWord ? states.find(token.text) : states.end();
    if (state == states.end()) {
      lexer_.fail(token, fmt::format("a state of variable {}", shown(graph_.variable(parent).name)));
    }
    index = index * states.size() + static_cast<std::size_t>(state->second);
  }
  expect_mark(')');
  if (std::exchange(block.has_row[index], 1) != 0) lexer_.fail_with(place, "this row is given twice");
  const std::vector<double> values = entries(static_cast<std::size_t>(block.num_states));
  std::copy(values.begin(), values.end(),
            block.log_values.begin() + static_cast<std::ptrdiff_t>(index * values.size()));
}

// The child's states are slowest in the file and fastest in the factor.
void BifParser::table(Block& block, const BifToken& place) {
  if (std::find(block.has_row.begin(), block.has_row.end(), 1) != block.has_row.end()) {
    lexer_.fail_with(place, "a table is given for a block that has a table or rows already");
  }
  if (!block.default_row.empty()) lexer_.fail_with(place, kTableAndDefault);
  block.has_table = true;
  const std::vector<double> values = entries(block.log_values.size());
  const auto num_states = static_cast<std::size_t>(block.num_states);
  for (std::size_t state = 0; state < num_states; ++state) {
    for (std::size_t r = 0; r < block.num_rows; ++r) {
      block.log_values[r * num_states + state] = values[state * block.num_rows + r];
    }
  }
  block.has_row.assign(block.num_rows, 1);
}

void BifParser::fill_from_default(Block& block, const BifToken& place) const {
  const std::vector<double>& values = block.default_row;
  for (std::size_t r = 0; r < block.num_rows; ++r) {
    if (block.has_row[r] != 0) continue;
    if (values.empty() && block.num_rows == 1 && block.scope.size() == 1) lexer_.fail(place, "'table'");
    if (values.empty()) {
      std::vector<std::string_view> states(block.scope.size() - 1);
      for (std::size_t i = states.size(), rest = r; i-- > 0;) {
        const std::vector<std::string>& names = graph_.variable(block.scope[i]).state_names;
        states[i] = names[rest % names.size()];
        rest /= names.size();
      }
      lexer_.fail_with(place, fmt::format("expected a row for {} or a default before the end of the block",
                                          shown(fmt::format("({})", fmt::join(states, ", ")))));
    }
    std::copy(values.begin(), values.end(), block.log_values.begin() + static_cast<std::ptrdiff_t>(r * values.size()));
  }
}

std::vector<double> BifParser::entries(std::size_t count) {
  std::vector<double> log_values;
  BifToken token = lexer_.next();
  for (; !token.is_mark(';'); token = lexer_.next()) {
    const std::optional<double> value = token.kind == BifToken::Kind::kWord ? log_of_decimal(token.text) : std::nullopt;
    if (!value) lexer_.fail(token, "a finite number of at least 0, or ';'");
    if (log_values.size() == count) lexer_.fail(token, fmt::format("';' after {} numbers", count));
    log_values.push_back(*value);
  }
  if (log_values.size() < count) {
    lexer_.fail_with(token, fmt::format("expected {} numbers before ';', found {}", count, log_values.size()));
  }
  return log_values;
}

}  // namespace

FactorGraph parse_bif(std::string_view text, std::string_view source_name) {
  std::string storage;
  return BifParser(utf8_text(text, storage), source_name).parse();
}

}  // namespace treesample
