#include "xdsl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

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
  explicit XdslParser(SourceText source) : xml_(source), network_(source) {}

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
    return network_.finish(event.offset);
  }

 private:
  struct Node {
    int variable = 0;
    std::string kind;  // in upper case
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
      if (!event.opens("CPT") && !event.opens("DETERMINISTIC") && !event.opens("NOISYMAX")) {
        refuse(event, "<cpt>, <deterministic>, <noisymax> or </nodes>");
      }
      node(event);
    }
  }

  void node(const XmlEvent& opened) {
    const std::string_view table = opened.text == "CPT"        ? "PROBABILITIES"
                                   : opened.text == "NOISYMAX" ? "PARAMETERS"
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
    node.variable = network_.declare(xml_attribute(opened, "id"), std::move(states), opened.offset);
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
  std::vector<Node> nodes_;
};

}  // namespace

FactorGraph parse_xdsl(std::string_view text, std::string_view source_name) {
  std::string storage;
  return XdslParser(source_text(utf8_text(text, storage), source_name)).parse();
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
