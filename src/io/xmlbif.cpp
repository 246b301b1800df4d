#include "treesample/io/xmlbif.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "decimal_log.hpp"
#include "diagram_draft.hpp"
#include "network_text.hpp"
#include "treesample/error.hpp"
#include "treesample/model/names.hpp"
#include "treesample/text.hpp"
#include "xml_reader.hpp"

namespace treesample {
namespace {

using Kind = XmlEvent::Kind;

class XmlBifParser {
 public:
  // With `diagram`, decisions and utilities go there; without it they are refused.
  XmlBifParser(std::string_view text, std::string_view source_name, DiagramDraft* diagram = nullptr)
      : xml_(source_text(text, source_name)), diagram_(diagram) {}

  FactorGraph parse() {
    expect_open("BIF");
    expect_open("NETWORK");
    XmlEvent event = xml_.next();
    for (; !event.closes("NETWORK"); event = xml_.next()) {
      if (event.opens("VARIABLE")) {
        const std::string type = xml_attribute(event, "type");
        const bool is_nature = type != "decision" && type != "utility";
        if (!is_nature && diagram_ == nullptr) {
          xml_.fail(event.offset, fmt::format("a <VARIABLE> is of the type {}, allowed is nature; treesample decide "
                                              "reads decisions",
                                              type));
        }
        variable(type);
      } else if (event.opens("DEFINITION") || event.opens("PROBABILITY")) {
        definition(event);
      } else if (event.opens("NAME") || event.opens("PROPERTY")) {
        xml_.skip(event);
      } else {
        refuse(event, "<VARIABLE>, <DEFINITION>, <NAME>, <PROPERTY> or </NETWORK>");
      }
    }
    const auto missing = std::find(has_table_.begin(), has_table_.end(), 0) - has_table_.begin();
    if (missing < graph_.num_variables()) {
      xml_.fail(event.offset, fmt::format("variable {} has no <DEFINITION>",
                                          quoted(xml_.source(), graph_.variable(static_cast<int>(missing)).name)));
    }
    if (diagram_ != nullptr && !diagram_->missing().empty()) {
      xml_.fail(event.offset,
                fmt::format("utility {} has no <DEFINITION>", quoted(xml_.source(), diagram_->missing())));
    }
    if (const XmlEvent end = xml_.next(); !end.closes("BIF")) refuse(end, "</BIF>");
    if (const XmlEvent end = xml_.next(); end.kind != Kind::kEnd) refuse(end, "nothing after </BIF>");
    for (const int v : decisions_) diagram_->decide(v, known_[v]);
    return std::move(graph_);
  }

 private:
  struct Definition {
    std::vector<int> scope;  // parents..., child
    std::vector<double> log_values;
    bool has_table = false;
  };

  [[noreturn]] void refuse(const XmlEvent& event, std::string_view expected) const {
    const std::string found = event.kind == Kind::kEnd     ? "the end of the file"
                              : event.kind == Kind::kText  ? fmt::format("'{}'", shortened(event.text, 40))
                              : event.kind == Kind::kClose ? fmt::format("</{}>", shortened(event.text, 40))
                                                           : fmt::format("<{}>", shortened(event.text, 40));
    xml_.fail(event.offset, fmt::format("expected {}, found {}", expected, found));
  }
  void expect_open(std::string_view name) {
    if (const XmlEvent event = xml_.next(); !event.opens(name)) refuse(event, fmt::format("<{}>", name));
  }
  // Reads the text of the element that was opened, and its end.
  XmlEvent contents(const XmlEvent& opened) {
    XmlEvent text = xml_.next();
    if (text.kind != Kind::kText) refuse(text, fmt::format("text in <{}>", opened.text));
    for (XmlEvent event = xml_.next(); !event.closes(opened.text); event = xml_.next()) {
      if (event.kind != Kind::kText) refuse(event, fmt::format("</{}>", opened.text));
      text.text += ' ' + event.text;  // text continues after a comment
    }
    return text;
  }

  void variable(const std::string& type) {
    Variable variable{.num_states = 0};
    std::size_t place = 0;
    for (XmlEvent event = xml_.next(); !event.closes("VARIABLE"); event = xml_.next()) {
      place = event.offset;
      if (event.opens("NAME") && variable.name.empty()) {
        variable.name = contents(event).text;
      } else if (event.opens("OUTCOME") || event.opens("VALUE")) {
        const XmlEvent name = contents(event);
        if (std::find(variable.state_names.begin(), variable.state_names.end(), name.text) !=
            variable.state_names.end()) {
          xml_.fail(name.offset, fmt::format("state {} is named twice", quoted(xml_.source(), name.text)));
        }
        variable.state_names.push_back(name.text);
      } else if (event.opens("PROPERTY")) {
        xml_.skip(event);
      } else {
        refuse(event, "<NAME>, <OUTCOME>, <PROPERTY> or </VARIABLE>");
      }
    }
    if (variable.name.empty()) xml_.fail(place, "a <VARIABLE> has no <NAME>");
    variable.num_states = static_cast<int>(variable.state_names.size());
    if (type == "utility") {
      if (diagram_->has_utility(variable.name) || variables_.contains(variable.name)) {
        xml_.fail(place, fmt::format("utility {} is declared twice", quoted(xml_.source(), variable.name)));
      }
      diagram_->declare_utility(variable.name);
      return;
    }
    if (variable.num_states < 1 || variable.num_states > FactorGraph::kMaxStates) {
      xml_.fail(place, fmt::format("variable {} has {} outcomes, allowed are 1 to {}",
                                   quoted(xml_.source(), variable.name), variable.num_states, FactorGraph::kMaxStates));
    }
    if (!variables_.emplace(variable.name, graph_.num_variables()).second) {
      xml_.fail(place, fmt::format("variable {} is declared twice", quoted(xml_.source(), variable.name)));
    }
    if (type == "decision") decisions_.push_back(graph_.num_variables());
    graph_.add_variable(std::move(variable));
    has_table_.push_back(type == "decision" ? 1 : 0);
  }

  int known_variable(const XmlEvent& name) const {
    const auto found = variables_.find(name.text);
    if (found == variables_.end()) refuse(name, "the name of a <VARIABLE> above");
    return found->second;
  }

  void definition(const XmlEvent& opened) {
    Definition now;
    std::optional<int> child;
    std::string utility;
    for (XmlEvent event = xml_.next(); !event.closes(opened.text); event = xml_.next()) {
      if (event.opens("FOR") && !child && utility.empty()) {
        const XmlEvent name = contents(event);
        if (diagram_ != nullptr && diagram_->has_utility(name.text)) {
          utility = name.text;
        } else {
          child = known_variable(name);
        }
      } else if (event.opens("GIVEN") && !now.has_table) {
        now.scope.push_back(known_variable(contents(event)));
      } else if (event.opens("TABLE") && !now.has_table) {
        const XmlEvent text = contents(event);
        now.log_values =
            utility.empty() ? table(text, log_of_decimal, "numbers from 0 up") : table(text, utility_of, "numbers");
        now.has_table = true;
      } else if (event.opens("PROPERTY")) {
        xml_.skip(event);
      } else {
        refuse(event,
               fmt::format("<FOR> (once), <GIVEN>, <TABLE> (once, after them), <PROPERTY> or </{}>", opened.text));
      }
    }
    const bool is_decision = child && std::find(decisions_.begin(), decisions_.end(), *child) != decisions_.end();
    if (is_decision) {
      if (now.has_table) xml_.fail(opened.offset, "the definition of a decision has a <TABLE>");
      known_[*child] = std::move(now.scope);
      return;
    }
    if ((!child && utility.empty()) || !now.has_table) {
      xml_.fail(opened.offset, "a definition needs <FOR> and <TABLE>");
    }
    if (!child) return define_utility(opened, utility, std::move(now));
    if (std::exchange(has_table_[*child], 1) != 0) {
      xml_.fail(opened.offset, fmt::format("variable {} has a definition already",
                                           quoted(xml_.source(), graph_.variable(*child).name)));
    }
    now.scope.push_back(*child);
    try {
      graph_.add_table(std::move(now.scope), std::move(now.log_values));
    } catch (const Error& error) {
      xml_.fail(opened.offset, fmt::format("the table of variable {}: {}",
                                           quoted(xml_.source(), graph_.variable(*child).name), error.what()));
    }
  }

  void define_utility(const XmlEvent& opened, const std::string& name, Definition now) {
    double size = 1.0;
    for (const int v : now.scope) size *= graph_.num_states(v);
    if (size != static_cast<double>(now.log_values.size())) {
      xml_.fail(opened.offset, fmt::format("the table of utility {} has {} entries, expected {}",
                                           quoted(xml_.source(), name), now.log_values.size(), size));
    }
    diagram_->set_utility(name, std::move(now.scope), std::move(now.log_values));
  }

  // `parse` makes a number of each token, or none of one that is not allowed.
  template <class Parse>
  std::vector<double> table(const XmlEvent& text, Parse parse, std::string_view allowed) const {
    constexpr std::string_view kSeparators = " \t\r\n,";
    std::vector<double> log_values;
    const std::string_view all = text.text;
    for (std::size_t at = all.find_first_not_of(kSeparators); at != std::string_view::npos;) {
      const std::size_t end = std::min(all.find_first_of(kSeparators, at), all.size());
      const std::optional<double> value = parse(all.substr(at, end - at));
      if (!value) {
        xml_.fail(text.offset,
                  fmt::format("expected {} in <TABLE>, found '{}'", allowed, shortened(all.substr(at, end - at), 40)));
      }
      log_values.push_back(*value);
      at = all.find_first_not_of(kSeparators, end);
    }
    return log_values;
  }

  XmlReader xml_;
  DiagramDraft* diagram_;
  std::vector<int> decisions_;
  std::map<int, std::vector<int>> known_;  // by decision
  FactorGraph graph_;
  std::unordered_map<std::string, int> variables_;
  std::vector<char> has_table_;  // per variable
};

}  // namespace

FactorGraph parse_xmlbif(std::string_view text, std::string_view source_name) {
  std::string storage;
  return XmlBifParser(utf8_text(text, storage), source_name).parse();
}

DecisionModel parse_xmlbif_decisions(std::string_view text, std::string_view source_name) {
  std::string storage;
  DiagramDraft diagram;
  FactorGraph graph = XmlBifParser(utf8_text(text, storage), source_name, &diagram).parse();
  return std::move(diagram).finish(std::move(graph));
}

std::string format_xmlbif(const FactorGraph& graph) {
  check_network_form(graph, "XMLBIF");
  std::string text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<BIF VERSION=\"0.3\">\n<NETWORK>\n<NAME>network</NAME>\n";
  for (int v = 0; v < graph.num_variables(); ++v) {
    text += fmt::format("<VARIABLE TYPE=\"nature\">\n  <NAME>{}</NAME>\n",
                        xml_text(writable_name(variable_name(graph, v))));
    for (int s = 0; s < graph.num_states(v); ++s) {
      text += fmt::format("  <OUTCOME>{}</OUTCOME>\n", xml_text(writable_name(state_name(graph, v, s))));
    }
    text += "</VARIABLE>\n";
  }
  for (int m = 0; m < graph.num_factors(); ++m) {
    const Factor& factor = graph.factor(m);
    const std::vector<int>& scope = factor.scope();
    text += fmt::format("<DEFINITION>\n  <FOR>{}</FOR>\n", xml_text(variable_name(graph, scope.back())));
    for (std::size_t i = 0; i + 1 < scope.size(); ++i) {
      text += fmt::format("  <GIVEN>{}</GIVEN>\n", xml_text(variable_name(graph, scope[i])));
    }
    text += "  <TABLE>";
    for (const double value : factor.log_values()) {
      text += ' ';
      append_network_entry(text, value);
    }
    text += " </TABLE>\n</DEFINITION>\n";
  }
  return text + "</NETWORK>\n</BIF>\n";
}

}  // namespace treesample
