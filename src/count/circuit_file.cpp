// Circuits as text: docs/methods/zeros.md, section 7.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "count/circuit_shape.hpp"
#include "math/hash.hpp"
#include "treesample/count/circuit.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

constexpr std::string_view kName = "treesample-circuit";

void append(std::string& text, const CountNumber& number) {
  const CountNumber::Parts parts = number.parts();
  fmt::format_to(std::back_inserter(text), "{:a} {} {:a}\n", parts.mantissa, parts.exponent,
                 static_cast<double>(parts.error));
}

class CircuitReader {
 public:
  CircuitReader(std::string_view text, std::string_view source_name) : text_(text), source_name_(source_name) {}

  std::shared_ptr<const CircuitShape> read() {
    word(kName);
    if (integer("the version 1", 1) != 1) fail("the version 1");
    read_variables();
    word("constant");
    constexpr double kLargest = 1e300;  // limit of weights, so that sums are finite
    shape_.log_constant = real("a number up to 1e300 in magnitude");
    if (!(std::abs(shape_.log_constant) <= kLargest)) fail("a number up to 1e300 in magnitude");
    shape_.log_error = real("an error from 0 to 1e300");
    if (!(shape_.log_error >= 0.0 && shape_.log_error <= kLargest)) fail("an error from 0 to 1e300");
    word("weights");
    for (CountNumber& weight : shape_.state_weights) weight = number();
    word("constants");
    const std::size_t num_constants = count("constants");
    for (std::size_t i = 0; i < num_constants; ++i) shape_.constants.push_back(number());
    word("nodes");
    const std::size_t num_nodes = count("nodes");
    if (num_nodes == 0) fail("at least one node");
    shape_.nodes.push_back(0);
    for (std::size_t node = 0; node < num_nodes; ++node) read_node();
    if (sets_.back() != all_variables_) fail("a last node with every variable once");
    shape_.log_range = ranges_.back();
    word("end");
    if (!next().empty()) fail("nothing after `end`");
    return std::make_shared<const CircuitShape>(std::move(shape_));
  }

 private:
  [[noreturn]] void fail(std::string_view allowed) const {
    throw Error(ErrorCode::kParse,
                fmt::format("{}:{}: allowed is {}, found '{}'", source_name_, line_, allowed, shortened(token_, 40)));
  }
  std::string_view next() {
    while (place_ < text_.size() && is_space(text_[place_])) line_ += text_[place_++] == '\n' ? 1 : 0;
    const std::size_t first = place_;
    while (place_ < text_.size() && !is_space(text_[place_])) ++place_;
    return token_ = text_.substr(first, place_ - first);
  }
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
  void word(std::string_view expected) {
    if (next() != expected) fail(fmt::format("'{}'", expected));
  }
  std::int64_t integer(std::string_view allowed, std::int64_t most, std::int64_t least = 0) {
    next();
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(token_.data(), token_.data() + token_.size(), value);
    if (code != std::errc() || end != token_.data() + token_.size() || value < least || value > most) fail(allowed);
    return value;
  }
  // A number of things, each of which takes at least one more character. So a file cannot request more memory than its
  // size.
  std::size_t count(std::string_view things) {
    return static_cast<std::size_t>(integer(fmt::format("a number of {} that the file has", things),
                                            static_cast<std::int64_t>(text_.size() - place_)));
  }
  double real(std::string_view allowed) {
    std::string_view digits = next();
    const bool is_negative = digits.starts_with('-');
    if (is_negative) digits.remove_prefix(1);
    if (!digits.starts_with("0x")) fail(allowed);
    digits.remove_prefix(2);
    double value = 0.0;
    const auto [end, code] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::hex);
    if (code != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value)) fail(allowed);
    return is_negative ? -value : value;
  }
  CountNumber number() {
    constexpr std::string_view kAllowed = "a mantissa in [1, 2), an exponent and an error, or three zeros";
    CountNumber::Parts parts;
    parts.mantissa = real(kAllowed);
    parts.exponent = static_cast<std::int32_t>(integer(kAllowed, INT32_MAX, INT32_MIN));
    parts.error = static_cast<float>(real(kAllowed));
    if (!parts.is_legal()) fail(kAllowed);
    return CountNumber::of_parts(parts);
  }

  void read_variables() {
    word("variables");
    std::vector<int> num_states(count("variables"));
    std::int64_t total = 0;
    for (int& states : num_states) {
      states = static_cast<int>(integer("a number of states from 1 to 2^20", FactorGraph::kMaxStates, 1));
      total += states;
    }
    // A weight for each of the states must still follow.
    if (total > static_cast<std::int64_t>(text_.size() - place_)) fail("as many weights as states");
    shape_.set_variables(std::move(num_states));
    for (int v = 0; v < static_cast<int>(shape_.num_states.size()); ++v) all_variables_.add(one_variable(v));
  }

  // Sums of hashes distinguish sets of variables: a term that has a variable twice, or lacks one, has a different sum.
  // Sizes are exact: no term has more variables than there are, however often it uses its nodes.
  struct VariableSet {
    std::uint64_t hash = 0;
    std::int64_t size = 0;

    void add(const VariableSet& other) {
      hash += other.hash;
      size += other.size;
    }
    bool operator==(const VariableSet&) const = default;
  };
  static VariableSet one_variable(int variable) {
    return {mixed(0x5ca1ab1eULL, static_cast<std::uint64_t>(variable)), 1};
  }

  void read_node() {
    const std::size_t num_terms = count("terms");
    shape_.words.push_back(static_cast<std::uint32_t>(num_terms));
    std::optional<VariableSet> first_set;
    int variable = -1;  // of the sum
    double range = 0.0;
    std::vector<std::uint32_t> seen;
    for (std::size_t term = 0; term < num_terms; ++term) {
      const std::size_t first = shape_.words.size();
      const VariableSet of_term = read_term();
      if (first_set.value_or(of_term) != of_term) fail("a term with the variables of the terms before it");
      first_set = of_term;
      range = std::max(range, term_range_);
      if (num_terms == 1) break;
      if (shape_.words[first] == 0) fail("a fixed state in each of several terms");
      const std::uint32_t state = shape_.words[first + 1];
      if (variable < 0) variable = shape_.variable_of[state];
      if (shape_.variable_of[state] != variable) fail("another state of the variable of the sum");
      seen.push_back(state);
    }
    std::sort(seen.begin(), seen.end());
    if (std::adjacent_find(seen.begin(), seen.end()) != seen.end()) fail("terms that differ in their first states");
    shape_.nodes.push_back(shape_.words.size());
    sets_.push_back(first_set.value_or(VariableSet()));
    ranges_.push_back(range + std::log(static_cast<double>(num_terms) + 1.0));
    if (!(ranges_.back() <= CountNumber::kLargestLog)) fail("numbers whose products are within exp(1e9)");
  }

  static double log_size(const CountNumber& number) { return number.is_zero() ? 0.0 : std::abs(number.log()); }

  // Returns the variables of the term, and sets term_range_ to the largest magnitude of its logarithm.
  VariableSet read_term() {
    VariableSet variables;
    term_range_ = 0.0;
    const auto most_state = static_cast<std::int64_t>(shape_.variable_of.size()) - 1;
    for (const bool is_free : {false, true}) {
      const std::size_t size = count("states");
      shape_.words.push_back(static_cast<std::uint32_t>(size));
      int last = -1;         // the previous free variable
      double largest = 0.0;  // magnitude of the weights of its states
      for (std::size_t i = 0; i < size; ++i) {
        const auto state = static_cast<std::uint32_t>(integer("the number of a state", most_state));
        const int v = shape_.variable_of[state];
        if (is_free && v == last && shape_.words.back() >= state) fail("free states in rising order");
        if (!is_free || v != last) {
          variables.add(one_variable(v));
          largest = 0.0;
        }
        last = v;
        const double magnitude = std::max(largest, log_size(shape_.state_weights[state]));
        term_range_ += magnitude - largest + 1.0;  // a sum of two numbers is at most twice the larger one
        largest = magnitude;
        shape_.words.push_back(state);
      }
    }
    const std::size_t num_children = count("nodes");
    shape_.words.push_back(static_cast<std::uint32_t>(num_children));
    for (std::size_t i = 0; i < num_children; ++i) {
      const std::int64_t child = integer("an earlier node", static_cast<std::int64_t>(sets_.size()) - 1);
      const VariableSet& of_child = sets_[static_cast<std::size_t>(child)];
      if (of_child.size == 0) fail("an earlier node that has variables");
      variables.add(of_child);
      if (variables.size > all_variables_.size) fail("every variable at most once in a term");
      term_range_ += ranges_[static_cast<std::size_t>(child)];
      shape_.words.push_back(static_cast<std::uint32_t>(child));
    }
    const std::int64_t constant =
        integer("0 or the number of a constant", static_cast<std::int64_t>(shape_.constants.size()));
    if (constant != 0) term_range_ += log_size(shape_.constants[static_cast<std::size_t>(constant) - 1]);
    shape_.words.push_back(static_cast<std::uint32_t>(constant));
    return variables;
  }

  std::string_view text_;
  std::string source_name_;
  std::size_t place_ = 0;
  int line_ = 1;
  std::string_view token_;
  CircuitShape shape_;
  std::vector<VariableSet> sets_;  // of each node
  std::vector<double> ranges_;     // of their logarithms
  double term_range_ = 0.0;
  VariableSet all_variables_;
};

}  // namespace

std::string format_circuit(const Circuit& circuit) {
  const CircuitShape& shape = circuit.shape();
  std::string text = fmt::format("{} 1\nvariables {}\n", kName, shape.num_states.size());
  for (const int states : shape.num_states) text += fmt::format("{} ", states);
  text += fmt::format("\nconstant {:a} {:a}\nweights\n", shape.log_constant, shape.log_error);
  for (const CountNumber& weight : shape.state_weights) append(text, weight);
  text += fmt::format("constants {}\n", shape.constants.size());
  for (const CountNumber& constant : shape.constants) append(text, constant);
  text += fmt::format("nodes {}\n", shape.num_nodes());
  for (std::size_t node = 0; node < shape.num_nodes(); ++node) {
    for (std::uint64_t i = shape.nodes[node]; i < shape.nodes[node + 1]; ++i) {
      text += fmt::format("{} ", shape.words[i]);
    }
    text += '\n';
  }
  return text += "end\n";
}

void write_circuit(const Circuit& circuit, const std::filesystem::path& path) {
  write_file_atomically(path, format_circuit(circuit));
}

Circuit parse_circuit(std::string_view text, std::string_view source_name) {
  return Circuit(CircuitReader(text, source_name).read());
}

Circuit read_circuit(const std::filesystem::path& path) { return parse_circuit(read_file(path), path.string()); }

}  // namespace treesample
