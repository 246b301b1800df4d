#include <fmt/format.h>

#include "network_text.hpp"
#include "treesample/error.hpp"
#include "treesample/io/bif.hpp"
#include "treesample/model/names.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

// A name is not quoted if readers take it for one word; otherwise it is. The format has no way to write a quote inside
// quotes.
std::string bif_word(const std::string& name) {
  const bool is_word = name.find_first_of(" \t\r\n\f\v,{}()[];|\"") == std::string::npos &&
                       name.find("//") == std::string::npos && name.find("/*") == std::string::npos;
  if (!name.empty() && is_word) return name;
  if (name.find('"') != std::string::npos) {
    throw Error(ErrorCode::kArgument,
                fmt::format("the name '{}' has a quote in it, which BIF cannot say", shortened(name, 60)));
  }
  return '"' + name + '"';
}

std::string variable_word(const FactorGraph& graph, int v) { return bif_word(variable_name(graph, v)); }

// The rows of P(child | parents), the last parent fastest.
void append_rows(std::string& text, const FactorGraph& graph, const Factor& factor) {
  const std::vector<int>& scope = factor.scope();
  const auto num_states = static_cast<std::size_t>(graph.num_states(scope.back()));
  std::vector<int> states(scope.size() - 1, 0);
  for (std::size_t first = 0; first < factor.log_values().size(); first += num_states) {
    std::string parents;
    for (std::size_t i = 0; i < states.size(); ++i) {
      parents += (i == 0 ? "" : ", ") + bif_word(state_name(graph, scope[i], states[i]));
    }
    text += states.empty() ? "  table " : fmt::format("  ({}) ", parents);
    for (std::size_t s = 0; s < num_states; ++s) {
      if (s > 0) text += ", ";
      append_network_entry(text, factor.log_values()[first + s]);
    }
    text += ";\n";
    for (std::size_t i = states.size(); i-- > 0;) {
      if (++states[i] < graph.num_states(scope[i])) break;
      states[i] = 0;
    }
  }
}

}  // namespace

std::string format_bif(const FactorGraph& graph) {
  check_network_form(graph, "BIF");
  std::string text = "network unknown {\n}\n";
  for (int v = 0; v < graph.num_variables(); ++v) {
    std::string states;
    for (int s = 0; s < graph.num_states(v); ++s) states += (s == 0 ? "" : ", ") + bif_word(state_name(graph, v, s));
    text += fmt::format("variable {} {{\n  type discrete [ {} ] {{ {} }};\n}}\n", variable_word(graph, v),
                        graph.num_states(v), states);
  }
  for (const Factor& factor : graph.factors()) {
    const std::vector<int>& scope = factor.scope();
    std::string parents;
    for (std::size_t i = 0; i + 1 < scope.size(); ++i)
      parents += (i == 0 ? " | " : ", ") + variable_word(graph, scope[i]);
    text += fmt::format("probability ( {}{} ) {{\n", variable_word(graph, scope.back()), parents);
    append_rows(text, graph, factor);
    text += "}\n";
  }
  return text;
}

}  // namespace treesample
