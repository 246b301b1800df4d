#include "xdsl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "diagram_draft.hpp"
#include "network_draft.hpp"
#include "network_text.hpp"
#include "noisy_max.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/names.hpp"
#include "treesample/text.hpp"
#include "xml_reader.hpp"

namespace treesample {
namespace {

using Kind = XmlEvent::Kind;

// A word of a text, and its place.
struct Part {
  std::string_view text;
  std::size_t offset = 0;
};

class XdslParser {
 public:
  // With `diagram`, decisions and utilities go there; without it they are refused.
  explicit XdslParser(SourceText source, DiagramDraft* diagram = nullptr)
      : xml_(source), network_(source), diagram_(diagram) {}

  FactorGraph parse() {
    if (const XmlEvent event = xml_.next(); !event.opens("SMILE")) refuse(event, "<smile>");
    XmlEvent event = xml_.next();
    for (; !event.closes("SMILE"); event = xml_.next()) {
      if (event.opens("NODES")) {
        nodes();
      } else if (event.opens("EXTENSIONS") || event.opens("PROPERTY")) {
        xml_.skip(event);
      } else {
        refuse(event, "<nodes>, <extensions> or </smile>");
      }
    }
    for (const Node& node : nodes_) define(node);
    for (const Node& node : sums_) weigh(node);
    return network_.finish(event.offset);
  }

 private:
  struct Node {
    int variable = 0;       // -1: a utility
    std::string name = {};  // of a utility
    std::string kind;       // in upper case
    XmlEvent parents = {};
    XmlEvent strengths = {};  // of a noisy MAX
    XmlEvent contents = {};   // probabilities, states of each row, or parameters
  };

  [[noreturn]] void refuse(const XmlEvent& event, std::string_view expected) const {
    const std::string found = event.kind == Kind::kEnd     ? "the end of the file"
                              : event.kind == Kind::kText  ? fmt::format("'{}'", shortened(event.text, 40))
                              : event.kind == Kind::kClose ? fmt::format("</{}>", lower(event.text))
                                                           : fmt::format("<{}>", lower(event.text));
    xml_.fail(event.offset, fmt::format("expected {}, found {}", expected, found));
  }
  static std::string lower(std::string_view name) {
    std::string text = shortened(name, 40);
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return text;
  }

  void nodes() {
    for (XmlEvent event = xml_.next(); !event.closes("NODES"); event = xml_.next()) {
      const bool is_diagram = event.opens("DECISION") || event.opens("UTILITY") || event.opens("MAU");
      if (is_diagram && diagram_ == nullptr) {
        refuse(event, "<cpt>, <deterministic> or <noisymax> (treesample decide reads decisions)");
      }
      if (!is_diagram && !event.opens("CPT") && !event.opens("DETERMINISTIC") && !event.opens("NOISYMAX")) {
        refuse(event, "<cpt>, <deterministic>, <noisymax> or </nodes>");
      }
      node(event);
    }
  }

  void node(const XmlEvent& opened) {
    const std::string_view table = opened.text == "CPT"        ? "PROBABILITIES"
                                   : opened.text == "NOISYMAX" ? "PARAMETERS"
                                   : opened.text == "UTILITY"  ? "UTILITIES"
                                   : opened.text == "MAU"      ? "WEIGHTS"
                                                               : "RESULTINGSTATES";
    Node node{.kind = opened.text};
    std::vector<std::string> states;
    for (XmlEvent event = xml_.next(); !event.closes(opened.text); event = xml_.next()) {
      if (event.opens("STATE")) {
        states.push_back(xml_attribute(event, "id"));
        xml_.skip(event);
      } else if (event.opens("PARENTS")) {
        node.parents = contents(event);
      } else if (event.opens("STRENGTHS")) {
        node.strengths = contents(event);
      } else if (event.opens(table)) {
        node.contents = contents(event);
        if (node.contents.text.empty()) xml_.fail(event.offset, fmt::format("<{}> is empty", lower(table)));
      } else if (event.kind == Kind::kOpen) {
        xml_.skip(event);  // notes of the editor, such as property and target
      } else {
        refuse(event, fmt::format("<state>, <parents>, <{}> or </{}>", lower(table), lower(opened.text)));
      }
    }
    if (node.kind == "UTILITY" || node.kind == "MAU") {
      node.variable = -1;
      node.name = xml_attribute(opened, "id");
      if (node.kind == "UTILITY") diagram_->declare_utility(node.name);
      (node.kind == "MAU" ? sums_ : nodes_).push_back(std::move(node));
      return;
    }
    node.variable = network_.declare(xml_attribute(opened, "id"), std::move(states), opened.offset);
    if (node.kind == "DECISION") {
      network_.leave_open(node.variable);
      nodes_.push_back(std::move(node));
      return;
    }
    if (node.contents.text.empty()) {
      xml_.fail(opened.offset, fmt::format("variable {} has no <{}>", network_.shown(node.variable), lower(table)));
    }
    nodes_.push_back(std::move(node));
  }

  // The text of the element that was opened, up to its end; it may be empty.
  XmlEvent contents(const XmlEvent& opened) {
    XmlEvent text{.kind = Kind::kText, .text = "", .offset = opened.offset};
    for (XmlEvent event = xml_.next(); !event.closes(opened.text); event = xml_.next()) {
      if (event.kind != Kind::kText) refuse(event, fmt::format("</{}>", lower(opened.text)));
      text.text += (text.text.empty() ? "" : " ") + event.text;  // text continues after a comment
    }
    return text;
  }

  static std::vector<Part> words(const XmlEvent& text) {
    constexpr std::string_view kBlanks = " \t\r\n";
    std::vector<Part> parts;
    const std::string_view all = text.text;
    for (std::size_t at = all.find_first_not_of(kBlanks); at != std::string_view::npos;) {
      const std::size_t end = std::min(all.find_first_of(kBlanks, at), all.size());
      parts.push_back({all.substr(at, end - at), text.offset});
      at = all.find_first_not_of(kBlanks, end);
    }
    return parts;
  }

  void define(const Node& node) {
    std::vector<int> parents;
    for (const Part& name : words(node.parents)) parents.push_back(network_.find(name.text, name.offset));
    if (node.kind == "DECISION") return diagram_->decide(node.variable, std::move(parents));
    if (node.kind == "UTILITY") return define_utility(node, std::move(parents));
    const std::size_t rows = network_.begin_table(node.variable, parents, node.contents.offset);
    const auto num_states = static_cast<std::size_t>(network_.graph().num_states(node.variable));
    const std::vector<Part> parts = words(node.contents);
    std::vector<double> values;
    if (node.kind == "DETERMINISTIC") {
      expect_count(node, parts, rows);
      values = resulting(node, parts, num_states);
    } else if (node.kind == "NOISYMAX") {
      values = noisy_max(node, parents, parts);
    } else {
      expect_count(node, parts, rows * num_states);
      for (const Part& part : parts) values.push_back(network_.log_of(part.text, part.offset));
    }
    network_.define(node.variable, std::move(parents), std::move(values), node.contents.offset);
  }

  void define_utility(const Node& node, std::vector<int> parents) {
    double size = 1.0;
    for (const int v : parents) size *= network_.graph().num_states(v);
    std::vector<double> values = numbers(node);
    if (static_cast<double>(values.size()) != size) {
      xml_.fail(node.contents.offset, fmt::format("utility {} has {} values, expected {}",
                                                  quoted(xml_.source(), node.name), values.size(), size));
    }
    diagram_->set_utility(node.name, std::move(parents), std::move(values));
  }

  // A sum of utilities with weights, which are 1 where none are given.
  void weigh(const Node& node) {
    const std::vector<Part> names = words(node.parents);
    std::vector<double> weights = numbers(node);
    if (weights.empty()) weights.assign(names.size(), 1.0);
    if (weights.size() != names.size()) {
      xml_.fail(node.contents.offset, fmt::format("{} weights for {} utilities", weights.size(), names.size()));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string name(names[i].text);
      if (!diagram_->has_utility(name)) {
        xml_.fail(names[i].offset, fmt::format("expected a utility, found {}", quoted(xml_.source(), name)));
      }
      diagram_->weigh_utility(name, weights[i]);
    }
  }

  std::vector<double> numbers(const Node& node) const {
    std::vector<double> values;
    for (const Part& part : words(node.contents)) {
      const std::optional<double> value = utility_of(part.text);
      if (!value)
        xml_.fail(part.offset,
                  fmt::format("expected a finite number, found {}", quoted(xml_.source(), std::string(part.text))));
      values.push_back(*value);
    }
    return values;
  }

  void expect_count(const Node& node, const std::vector<Part>& parts, std::size_t expected) const {
    if (parts.size() == expected) return;
    xml_.fail(node.contents.offset, fmt::format("the table of variable {} has {} entries, expected {}",
                                                network_.shown(node.variable), parts.size(), expected));
  }

  std::vector<double> resulting(const Node& node, const std::vector<Part>& parts, std::size_t num_states) const {
    const std::vector<std::string>& names = network_.graph().variable(node.variable).state_names;
    std::vector<double> values(parts.size() * num_states, kNegInf);
    for (std::size_t r = 0; r < parts.size(); ++r) {
      const auto state = std::find(names.begin(), names.end(), parts[r].text);
      if (state == names.end()) {
        xml_.fail(parts[r].offset, fmt::format("expected a state of variable {}, found {}",
                                               network_.shown(node.variable), quoted(xml_.source(), parts[r].text)));
      }
      values[r * num_states + static_cast<std::size_t>(state - names.begin())] = 0.0;
    }
    return values;
  }

  // The strengths tell the order of a parent's states; only the usual one is read.
  void check_strengths(const Node& node, const std::vector<int>& parents) const {
    const std::vector<Part> given = words(node.strengths);
    std::size_t i = 0;
    bool is_usual = true;
    for (const int parent : parents) {
      for (int s = 0; s < network_.graph().num_states(parent); ++s, ++i) {
        is_usual = is_usual && i < given.size() && given[i].text == std::to_string(s);
      }
    }
    if (given.empty() || (is_usual && i == given.size())) return;
    xml_.fail(node.strengths.offset,
              fmt::format("the strengths of the parents of variable {} are not in the order of their states",
                          network_.shown(node.variable)));
  }

  std::vector<double> noisy_max(const Node& node, const std::vector<int>& parents,
                                const std::vector<Part>& parts) const {
    check_strengths(node, parents);
    NoisyMax noisy{.num_states = network_.graph().num_states(node.variable)};
    std::size_t columns = 1;  // of the leak
    for (const int parent : parents) {
      noisy.parent_states.push_back(network_.graph().num_states(parent));
      columns += static_cast<std::size_t>(noisy.parent_states.back());
    }
    expect_count(node, parts, columns * static_cast<std::size_t>(noisy.num_states));
    for (const Part& part : parts) noisy.log_columns.push_back(network_.log_of(part.text, part.offset));
    return noisy_max_table(noisy);
  }

  XmlReader xml_;
  NetworkDraft network_;
  DiagramDraft* diagram_;
  std::vector<Node> nodes_, sums_;  // sums: of utilities
};

}  // namespace

FactorGraph parse_xdsl(std::string_view text, std::string_view source_name) {
  std::string storage;
  return XdslParser(source_text(utf8_text(text, storage), source_name)).parse();
}

DecisionModel parse_xdsl_decisions(std::string_view text, std::string_view source_name) {
  std::string storage;
  DiagramDraft diagram;
  FactorGraph graph = XdslParser(source_text(utf8_text(text, storage), source_name), &diagram).parse();
  return std::move(diagram).finish(std::move(graph));
}

std::string format_xdsl(const FactorGraph& graph) {
  check_network_form(graph, "XDSL");
  const std::vector<std::string> names = identifiers(variable_names(graph));
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<smile version=\"1.0\" id=\"network\">\n<nodes>\n";
  const std::vector<int> tables = tables_of_variables(graph);
  // GeNIe wants parents before their children.
  for (const int v : parents_first(graph)) {
    const Factor& factor = graph.factor(tables[v]);
    text += fmt::format("<cpt id=\"{}\">\n", names[v]);
    for (const std::string& state : identifiers(state_names(graph, v)))
      text += fmt::format("  <state id=\"{}\" />\n", state);
    const std::vector<int>& scope = factor.scope();
    if (scope.size() > 1) text += fmt::format("  <parents>{}</parents>\n", parents_text(scope, names, " "));
    text += "  <probabilities>";
    bool is_first = true;
    for (const double value : factor.log_values()) {
      if (!std::exchange(is_first, false)) text += ' ';
      append_network_entry(text, value);
    }
    text += "</probabilities>\n</cpt>\n";
  }
  return text + "</nodes>\n</smile>\n";
}

}  // namespace treesample
