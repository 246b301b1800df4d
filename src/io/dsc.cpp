#include "dsc.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "network_draft.hpp"
#include "network_lexer.hpp"
#include "network_text.hpp"

namespace treesample {
namespace {

using Kind = NetworkToken::Kind;

// The table of one probability block. A row is a combination of the parents' states, the last parent fastest.
struct Rows {
  int child = 0;
  std::vector<int> parents = {};
  std::size_t num_states = 0;
  std::vector<double> log_values = {};
  std::vector<char> is_given = {};       // per row
  std::vector<double> default_row = {};  // empty if there is none
};

class DscParser {
 public:
  explicit DscParser(SourceText source) : lexer_(source, "//"), network_(source) {}

  FactorGraph parse() {
    NetworkToken token = lexer_.next();
    if (!token.is_word("belief")) lexer_.fail(token, "'belief network'");
    token = lexer_.next();
    if (!token.is_word("network")) lexer_.fail(token, "'network'");
    token = lexer_.next();
    if (token.kind == Kind::kString) token = lexer_.next();
    for (; token.kind != Kind::kEnd; token = lexer_.next()) {
      if (token.is_word("node")) {
        node();
      } else if (token.is_word("probability")) {
        probability();
      } else {
        lexer_.fail(token, "'node' or 'probability'");
      }
    }
    return network_.finish(token.offset);
  }

 private:
  // node NAME { type : discrete [ 2 ] = { "yes", "no" }; attribute : value; ... }
  void node() {
    const NetworkToken name = lexer_.next();
    if (!name.is_name()) lexer_.fail(name, "the name of a node");
    std::vector<std::string> states;
    lexer_.expect('{');
    for (NetworkToken token = lexer_.next(); !token.is_mark('}'); token = lexer_.next()) {
      if (token.kind != Kind::kWord) lexer_.fail(token, "an attribute or '}'");
      lexer_.expect(':');
      if (token.text == "type") {
        states = type();
      } else {
        lexer_.skip_value();
      }
    }
    network_.declare(name.text, std::move(states), name.offset);
  }

  std::vector<std::string> type() {
    if (const NetworkToken kind = lexer_.next(); !kind.is_word("discrete")) lexer_.fail(kind, "'discrete'");
    lexer_.expect('[');
    const NetworkToken count = lexer_.next();
    lexer_.expect(']');
    lexer_.expect('=');
    lexer_.expect('{');
    std::vector<std::string> states;
    NetworkToken token = lexer_.next();
    for (; !token.is_mark('}'); token = lexer_.next()) {
      if (token.is_mark(',')) continue;
      if (!token.is_name()) lexer_.fail(token, "the name of a state or '}'");
      states.push_back(token.text);
    }
    if (count.text != std::to_string(states.size())) {
      lexer_.fail(count, fmt::format("{}, the number of the states that are named", states.size()));
    }
    lexer_.expect(';');
    return states;
  }

  int known(const NetworkToken& name) const {
    if (!name.is_name()) lexer_.fail(name, "the name of a node");
    return network_.find(name.text, name.offset);
  }

  // probability (CHILD | PARENT, ...) { (0, 1) : 0.1, 0.9; ... default : 0.5, 0.5; }
  void probability() {
    lexer_.expect('(');
    const NetworkToken place = lexer_.next();
    Rows rows{.child = known(place)};
    NetworkToken token = lexer_.next();
    if (token.is_mark('|')) {
      for (token = lexer_.next(); !token.is_mark(')'); token = lexer_.next()) {
        if (!token.is_mark(',')) rows.parents.push_back(known(token));
      }
    }
    if (!token.is_mark(')')) lexer_.fail(token, "'|' or ')'");
    rows.num_states = static_cast<std::size_t>(network_.graph().num_states(rows.child));
    rows.is_given.resize(network_.begin_table(rows.child, rows.parents, place.offset), 0);
    rows.log_values.resize(rows.is_given.size() * rows.num_states);
    block(rows);
    network_.define(rows.child, std::move(rows.parents), std::move(rows.log_values), place.offset);
  }

  void block(Rows& rows) {
    lexer_.expect('{');
    NetworkToken token = lexer_.next();
    for (; !token.is_mark('}'); token = lexer_.next()) {
      if (token.is_mark('(')) {
        const std::size_t row = row_index(rows);
        lexer_.expect(':');
        take(rows, row, token, lexer_.next());
      } else if (token.is_word("default")) {
        lexer_.expect(':');
        rows.default_row = entries(rows, lexer_.next());
      } else if (token.kind == Kind::kWord && rows.parents.empty()) {
        take(rows, 0, token, token);
      } else {
        lexer_.fail(token, rows.parents.empty() ? "numbers or '}'" : "'(', 'default' or '}'");
      }
    }
    for (std::size_t r = 0; r < rows.is_given.size(); ++r) {
      if (rows.is_given[r] != 0) continue;
      if (rows.default_row.empty()) {
        network_.fail(token.offset, fmt::format("the table of variable {} has no row {} of {} and no default",
                                                network_.shown(rows.child), r + 1, rows.is_given.size()));
      }
      std::copy(rows.default_row.begin(), rows.default_row.end(), at(rows, r));
    }
  }

  static std::vector<double>::iterator at(Rows& rows, std::size_t row) {
    return rows.log_values.begin() + static_cast<std::ptrdiff_t>(row * rows.num_states);
  }

  std::size_t row_index(const Rows& rows) {
    std::size_t row = 0;
    for (std::size_t i = 0; i < rows.parents.size(); ++i) {
      if (i > 0) lexer_.expect(',');
      const Variable& parent = network_.graph().variable(rows.parents[i]);
      row = row * static_cast<std::size_t>(parent.num_states) + state_of(parent);
    }
    lexer_.expect(')');
    return row;
  }

  std::size_t state_of(const Variable& variable) {
    const NetworkToken token = lexer_.next();
    const auto named = std::find(variable.state_names.begin(), variable.state_names.end(), token.text);
    if (token.kind == Kind::kString && named != variable.state_names.end()) {
      return static_cast<std::size_t>(named - variable.state_names.begin());
    }
    int state = -1;
    const char* const end = token.text.data() + token.text.size();
    const bool is_number = std::from_chars(token.text.data(), end, state).ptr == end && token.kind == Kind::kWord;
    if (!is_number || state < 0 || state >= variable.num_states) {
      lexer_.fail(token, fmt::format("a state of variable {}, 0 to {}", quoted(lexer_.source(), variable.name),
                                     variable.num_states - 1));
    }
    return static_cast<std::size_t>(state);
  }

  void take(Rows& rows, std::size_t row, const NetworkToken& place, const NetworkToken& first) {
    if (std::exchange(rows.is_given[row], 1) != 0) network_.fail(place.offset, "this row is given twice");
    const std::vector<double> values = entries(rows, first);
    std::copy(values.begin(), values.end(), at(rows, row));
  }

  // One number for each state of the child, up to the semicolon.
  std::vector<double> entries(const Rows& rows, NetworkToken token) {
    std::vector<double> values;
    for (; !token.is_mark(';'); token = lexer_.next()) {
      if (token.is_mark(',')) continue;
      if (token.kind != Kind::kWord || values.size() == rows.num_states) {
        lexer_.fail(token, fmt::format("{} numbers and ';'", rows.num_states));
      }
      values.push_back(network_.log_of(token.text, token.offset));
    }
    if (values.size() != rows.num_states) lexer_.fail(token, fmt::format("{} numbers", rows.num_states));
    return values;
  }

  NetworkLexer lexer_;
  NetworkDraft network_;
};

}  // namespace

FactorGraph parse_dsc(std::string_view text, std::string_view source_name) {
  std::string storage;
  return DscParser(source_text(utf8_text(text, storage), source_name)).parse();
}

std::string format_dsc(const FactorGraph& graph) {
  check_network_form(graph, "DSC");
  const std::vector<std::string> names = identifiers(variable_names(graph));
  std::string text = "belief network \"network\"\n";
  for (int v = 0; v < graph.num_variables(); ++v) {
    std::string states;
    for (const std::string& state : state_names(graph, v))
      states += (states.empty() ? "" : ", ") + double_quoted(state);
    text +=
        fmt::format("node {}\n{{\n  type : discrete [ {} ] = {{ {} }};\n}}\n", names[v], graph.num_states(v), states);
  }
  for (const Factor& factor : graph.factors()) {
    const std::vector<int>& scope = factor.scope();
    const std::string parents = parents_text(scope, names, ", ");
    text += fmt::format("probability ({}{}{})\n{{\n", names[scope.back()], parents.empty() ? "" : " | ", parents);
    const auto num_states = static_cast<std::size_t>(graph.num_states(scope.back()));
    std::vector<int> row(scope.size() - 1, 0);
    for (std::size_t i = 0; i < factor.log_values().size(); ++i) {
      if (i % num_states == 0) text += row.empty() ? "  " : fmt::format("  ({}) : ", fmt::join(row, ", "));
      append_network_entry(text, factor.log_values()[i]);
      if ((i + 1) % num_states != 0) {
        text += ", ";
        continue;
      }
      text += ";\n";
      for (std::size_t k = row.size(); k-- > 0;) {
        if (++row[k] < graph.num_states(scope[k])) break;
        row[k] = 0;
      }
    }
    text += "}\n";
  }
  return text;
}

}  // namespace treesample
