#include "hugin_net.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "network_draft.hpp"
#include "network_lexer.hpp"
#include "network_text.hpp"

namespace treesample {
namespace {

using Kind = NetworkToken::Kind;

class NetParser {
 public:
  explicit NetParser(SourceText source) : lexer_(source, "%"), network_(source) {}

  FactorGraph parse() {
    NetworkToken token = lexer_.next();
    for (; token.kind != Kind::kEnd; token = lexer_.next()) {
      if (token.is_word("class")) {
        network_class();
      } else if (token.is_word("net")) {
        skip_block();
      } else {
        item(token, "'net', 'class', 'node' or 'potential'");
      }
    }
    return network_.finish(token.offset);
  }

 private:
  // class NAME { attribute = value; ... node ... potential ... }
  void network_class() {
    if (const NetworkToken name = lexer_.next(); !name.is_name()) lexer_.fail(name, "the name of the class");
    lexer_.expect('{');
    for (NetworkToken token = lexer_.next(); !token.is_mark('}'); token = lexer_.next()) {
      item(token, "'node', 'potential', an attribute or '}'", /*has_attributes=*/true);
    }
  }

  void item(NetworkToken token, std::string_view expected, bool has_attributes = false) {
    if (token.is_word("discrete")) {
      token = lexer_.next();
      if (!token.is_word("node")) lexer_.fail(token, "'node'");
    }
    if (token.is_word("node")) {
      node();
    } else if (token.is_word("potential")) {
      potential();
    } else if (token.is_word("decision") || token.is_word("utility") || token.is_word("continuous") ||
               token.is_word("function") || token.is_word("instance")) {
      lexer_.fail(token, "only discrete nodes and their potentials");
    } else if (has_attributes && token.kind == Kind::kWord) {
      lexer_.expect('=');
      lexer_.skip_value();
    } else {
      lexer_.fail(token, expected);
    }
  }

  void skip_block() {
    lexer_.expect('{');
    for (NetworkToken token = lexer_.next(); !token.is_mark('}'); token = lexer_.next()) {
      if (token.kind == Kind::kEnd) lexer_.fail(token, "'}'");
    }
  }

  // node NAME { states = ("yes" "no"); attribute = value; ... }
  void node() {
    const NetworkToken name = lexer_.next();
    if (name.kind != Kind::kWord) lexer_.fail(name, "the name of a node");
    std::vector<std::string> states;
    lexer_.expect('{');
    for (NetworkToken token = lexer_.next(); !token.is_mark('}'); token = lexer_.next()) {
      if (token.kind != Kind::kWord) lexer_.fail(token, "an attribute or '}'");
      lexer_.expect('=');
      if (token.text != "states") {
        lexer_.skip_value();
        continue;
      }
      lexer_.expect('(');
      NetworkToken state = lexer_.next();
      for (; state.is_name(); state = lexer_.next()) states.push_back(state.text);
      if (!state.is_mark(')')) lexer_.fail(state, "the name of a state or ')'");
      lexer_.expect(';');
    }
    network_.declare(name.text, std::move(states), name.offset);
  }

  int known(const NetworkToken& name) const {
    if (name.kind != Kind::kWord) lexer_.fail(name, "the name of a node");
    return network_.find(name.text, name.offset);
  }

  // potential (CHILD | PARENT ...) { data = (...); attribute = value; ... }
  void potential() {
    lexer_.expect('(');
    const NetworkToken place = lexer_.next();
    const int child = known(place);
    std::vector<int> parents;
    NetworkToken token = lexer_.next();
    if (token.kind == Kind::kWord) lexer_.fail(token, "'|' or ')': a potential is read for one node");
    if (token.is_mark('|')) {
      for (token = lexer_.next(); token.kind == Kind::kWord; token = lexer_.next()) parents.push_back(known(token));
    }
    if (!token.is_mark(')')) lexer_.fail(token, "the name of a parent or ')'");
    const std::size_t rows = network_.begin_table(child, parents, place.offset);
    const std::size_t num_entries = rows * static_cast<std::size_t>(network_.graph().num_states(child));
    std::vector<double> values = block(child, num_entries);
    network_.define(child, std::move(parents), std::move(values), place.offset);
  }

  std::vector<double> block(int child, std::size_t num_entries) {
    std::vector<double> values;
    bool has_data = false;
    NetworkToken formula;
    lexer_.expect('{');
    for (NetworkToken token = lexer_.next(); !token.is_mark('}'); token = lexer_.next()) {
      if (token.kind != Kind::kWord) lexer_.fail(token, "an attribute or '}'");
      lexer_.expect('=');
      if (token.text == "data") {
        has_data = true;
        values = data(child, num_entries);
      } else {
        if (token.text == "model_data") formula = token;
        lexer_.skip_value();
      }
    }
    if (!has_data && formula.kind != Kind::kEnd) lexer_.fail(formula, "'data': a formula is not read");
    if (!has_data) values.assign(num_entries, 0.0);
    return values;
  }

  std::vector<double> data(int child, std::size_t num_entries) {
    std::vector<double> values;
    NetworkToken token = lexer_.next();
    for (; !token.is_mark(';'); token = lexer_.next()) {
      if (token.is_mark('(') || token.is_mark(')')) continue;
      if (token.kind != Kind::kWord) lexer_.fail(token, "a number or ';'");
      if (values.size() == num_entries) lexer_.fail(token, fmt::format("';' after {} numbers", num_entries));
      values.push_back(network_.log_of(token.text, token.offset));
    }
    if (values.size() != num_entries) {
      network_.fail(token.offset, fmt::format("the data of variable {} has {} numbers, expected {}",
                                              network_.shown(child), values.size(), num_entries));
    }
    return values;
  }

  NetworkLexer lexer_;
  NetworkDraft network_;
};

}  // namespace

FactorGraph parse_hugin_net(std::string_view text, std::string_view source_name) {
  std::string storage;
  return NetParser(source_text(utf8_text(text, storage), source_name)).parse();
}

std::string format_hugin_net(const FactorGraph& graph) {
  check_network_form(graph, "NET");
  const std::vector<std::string> labels = variable_names(graph);
  const std::vector<std::string> names = identifiers(labels);
  std::string text = "net\n{\n}\n";
  for (int v = 0; v < graph.num_variables(); ++v) {
    text += fmt::format("node {}\n{{\n  label = {};\n  states = (", names[v], double_quoted(labels[v]));
    for (const std::string& state : state_names(graph, v)) text += ' ' + double_quoted(state);
    text += " );\n}\n";
  }
  for (const Factor& factor : graph.factors()) {
    const std::vector<int>& scope = factor.scope();
    const std::string parents = parents_text(scope, names, " ");
    text +=
        fmt::format("potential ({}{}{})\n{{\n  data = (", names[scope.back()], parents.empty() ? "" : " | ", parents);
    const auto num_states = static_cast<std::size_t>(graph.num_states(scope.back()));
    for (std::size_t i = 0; i < factor.log_values().size(); ++i) {
      // Hugin wants the parentheses: one pair for each parent around what varies with it.
      std::size_t block = num_states;
      std::string opened;
      for (std::size_t k = scope.size() - 1; k-- > 0 && i % block == 0;) {
        opened += '(';
        block *= static_cast<std::size_t>(graph.num_states(scope[k]));
      }
      text += ' ' + opened;
      append_network_entry(text, factor.log_values()[i]);
      block = num_states;
      for (std::size_t k = scope.size() - 1; k-- > 0 && (i + 1) % block == 0;) {
        text += ')';
        block *= static_cast<std::size_t>(graph.num_states(scope[k]));
      }
    }
    text += " );\n}\n";
  }
  return text;
}

}  // namespace treesample
