#include "treesample/formula/nnf.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "count/circuit_shape.hpp"
#include "formula/integer.hpp"
#include "stopwatch.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

class NnfWriter {
 public:
  explicit NnfWriter(const CircuitShape& shape) : shape_(shape), literal_(shape.variable_of.size(), -1) {
    constexpr const char* kFunction = "format_nnf";
    for (const int count : shape.num_states) {
      check_argument(count == 2, kFunction, fmt::format("a variable has {} states, .nnf has variables of two", count));
    }
    check_argument(shape.constants.empty(), kFunction, "the model has tables of weights over several variables");
    free_.assign(shape.num_states.size(), -1);
  }

  std::string write() {
    std::vector<std::int64_t> number_of;  // by node of the circuit
    for (std::size_t node = 0; node < shape_.num_nodes(); ++node) {
      std::vector<std::int64_t> terms;
      int variable = 0;
      shape_.for_each_term(node, [&](const CircuitTerm& term) {
        if (!term.fixed.empty()) variable = shape_.variable_of[term.fixed.front()] + 1;
        terms.push_back(write_term(term, number_of));
      });
      number_of.push_back(terms.size() == 1 ? terms.front() : write_or(terms.size() < 2 ? 0 : variable, terms));
    }
    if (number_of.back() + 1 != num_nodes_) line(Nnf::Kind::kAnd, 0, {number_of.back()});  // the last one is the whole
    return fmt::format("nnf {} {} {}\n", num_nodes_, num_edges_, shape_.num_states.size()) + text_;
  }

 private:
  std::int64_t line(Nnf::Kind kind, int literal, const std::vector<std::int64_t>& below) {
    const auto out = std::back_inserter(text_);
    if (kind == Nnf::Kind::kLiteral) {
      fmt::format_to(out, "L {}\n", literal);
    } else {
      if (kind == Nnf::Kind::kAnd) fmt::format_to(out, "A {}", below.size());
      if (kind == Nnf::Kind::kOr) fmt::format_to(out, "O {} {}", literal, below.size());
      for (const std::int64_t node : below) fmt::format_to(out, " {}", node);
      text_ += '\n';
    }
    num_edges_ += std::ssize(below);
    return num_nodes_++;
  }
  std::int64_t write_or(int variable, const std::vector<std::int64_t>& terms) {
    return line(Nnf::Kind::kOr, variable, terms);
  }
  std::int64_t literal(std::uint32_t state) {
    const int v = shape_.variable_of[state];
    const bool is_true = state != shape_.first_state[v];
    if (literal_[state] < 0) literal_[state] = line(Nnf::Kind::kLiteral, is_true ? v + 1 : -(v + 1), {});
    return literal_[state];
  }
  std::int64_t write_term(const CircuitTerm& term, const std::vector<std::int64_t>& number_of) {
    std::vector<std::int64_t> below;
    for (const std::uint32_t state : term.fixed) below.push_back(literal(state));
    shape_.for_each_free(term, [&](std::span<const std::uint32_t> states) {
      const int v = shape_.variable_of[states.front()];
      if (states.size() == 1) {
        below.push_back(literal(states.front()));
      } else {
        if (free_[v] < 0) free_[v] = write_or(v + 1, {literal(states[0]), literal(states[1])});
        below.push_back(free_[v]);
      }
    });
    for (const std::uint32_t child : term.children) below.push_back(number_of[child]);
    return below.size() == 1 ? below.front() : line(Nnf::Kind::kAnd, 0, below);
  }

  const CircuitShape& shape_;
  std::string text_;
  std::int64_t num_nodes_ = 0, num_edges_ = 0;
  std::vector<std::int64_t> literal_;  // by state: its node, or -1
  std::vector<std::int64_t> free_;     // by variable: the node "true or false", or -1
};

// A node takes a bit for each variable in a set, and another one in a count.
void check_bits(double num_nodes, double num_variables, const Limits& limits, std::string_view what) {
  constexpr double kMostBits = 0x1.0p31, kBitsPerByte = 4.0;
  if (num_nodes * (num_variables + 64.0) <= std::min(kMostBits, kBitsPerByte * static_cast<double>(limits.bytes)))
    return;
  throw Error(ErrorCode::kResource,
              fmt::format("{}{} nodes over {} variables are too many to be checked", what, num_nodes, num_variables));
}

void check_time(double seconds, const Limits& limits, std::string_view what) {
  if (seconds <= limits.seconds) return;
  throw Error(ErrorCode::kResource, fmt::format("{}there is no time left for it (--time)", what));
}

// Sets of variables, as rows of bits.
class VariableSets {
 public:
  VariableSets(std::size_t num_sets, int num_variables)
      : words_((static_cast<std::size_t>(num_variables) + 63) / 64), bits_(num_sets * words_, 0), has_some_(num_sets) {}
  void add(std::size_t set, int variable) {
    has_some_[set] = 1;
    const auto place = static_cast<std::size_t>(variable - 1);
    bits_[set * words_ + place / 64] |= std::uint64_t{1} << (place % 64);
  }
  // Returns false if they share a variable.
  bool unite(std::size_t set, std::size_t other) {
    bool is_disjoint = true;
    if (has_some_[other] == 0) return true;
    has_some_[set] = 1;
    for (std::size_t w = 0; w < words_; ++w) {
      is_disjoint = is_disjoint && (bits_[set * words_ + w] & bits_[other * words_ + w]) == 0;
      bits_[set * words_ + w] |= bits_[other * words_ + w];
    }
    return is_disjoint;
  }
  [[nodiscard]] std::uint64_t size(std::size_t set) const {
    std::uint64_t size = 0;
    for (std::size_t w = 0; w < words_; ++w) size += static_cast<std::uint64_t>(std::popcount(bits_[set * words_ + w]));
    return size;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
  std::vector<char> has_some_;
};

class NnfReader {
 public:
  NnfReader(std::string_view text, std::string_view source_name, const Limits& limits)
      : text_(text), source_name_(source_name), limits_(limits) {}

  Nnf read() {
    if (const std::string_view word = next(); word != "nnf") fail(word, "'nnf'");
    const auto num_nodes = static_cast<std::size_t>(integer("a number of nodes", 1, most_numbers()));
    const std::int64_t num_edges = integer("a number of edges", 0, most_numbers());
    nnf_.num_variables = static_cast<int>(integer("a number of variables", 0, 1 << 30));
    const std::string what = fmt::format("{}: ", source_name_);
    check_bits(static_cast<double>(num_nodes), nnf_.num_variables, limits_, what);
    VariableSets sets(num_nodes, nnf_.num_variables);
    while (nnf_.nodes.size() < num_nodes) {
      read_node(sets);
      check_time(clock_.seconds(), limits_, what);
    }
    if (const std::string_view word = next(); !word.empty()) fail(word, "nothing after the last node");
    if (std::ssize(nnf_.edges) != num_edges) {
      fail(word_, fmt::format("the {} edges of the first line, not {}", num_edges, nnf_.edges.size()));
    }
    return std::move(nnf_);
  }

 private:
  [[nodiscard]] std::int64_t most_numbers() const { return static_cast<std::int64_t>(text_.size()); }

  std::string_view next() {
    constexpr std::string_view kBlanks = " \t\r\n";
    at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size());
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_of(kBlanks, at_), text_.size());
    return word_ = text_.substr(begin, at_ - begin);
  }
  [[noreturn]] void fail(std::string_view word, std::string_view expected) const {
    const std::string_view before = text_.substr(0, static_cast<std::size_t>(word.data() - text_.data()));
    throw Error(
        ErrorCode::kParse,
        fmt::format("{}:{}: expected {}, found {}", source_name_, 1 + std::count(before.begin(), before.end(), '\n'),
                    expected, word.empty() ? "the end of the file" : fmt::format("'{}'", shortened(word, 40))));
  }
  std::int64_t integer(std::string_view what, std::int64_t low, std::int64_t high) {
    const std::string_view word = next();
    std::int64_t value = 0;
    const auto result = std::from_chars(word.data(), word.data() + word.size(), value);
    if (result.ec != std::errc{} || result.ptr != word.data() + word.size() || value < low || value > high) {
      fail(word, fmt::format("{} from {} to {}", what, low, high));
    }
    return value;
  }

  void read_node(VariableSets& sets) {
    const std::size_t number = nnf_.nodes.size();
    const std::string_view kind = next();
    Nnf::Node node{.first = static_cast<std::uint32_t>(nnf_.edges.size())};
    if (kind == "L") {
      node.kind = Nnf::Kind::kLiteral;
      node.literal = static_cast<int>(integer("a literal", -nnf_.num_variables, nnf_.num_variables));
      if (node.literal == 0) fail(word_, "a literal that is not 0");
      sets.add(number, std::abs(node.literal));
    } else if (kind == "A" || kind == "O") {
      node.kind = kind == "A" ? Nnf::Kind::kAnd : Nnf::Kind::kOr;
      if (kind == "O") node.literal = static_cast<int>(integer("a variable", 0, nnf_.num_variables));
      const std::int64_t size = integer("a number of nodes", 0, kind == "A" ? most_numbers() : 2);
      for (std::int64_t i = 0; i < size; ++i) {
        nnf_.edges.push_back(
            static_cast<std::uint32_t>(integer("an earlier node", 0, static_cast<std::int64_t>(number) - 1)));
        const bool is_disjoint = sets.unite(number, nnf_.edges.back());
        if (!is_disjoint && kind == "A") fail(word_, "a node that shares no variable with those before it");
      }
    } else {
      fail(kind, "L, A or O");
    }
    node.last = static_cast<std::uint32_t>(nnf_.edges.size());
    nnf_.nodes.push_back(node);
    if (node.kind == Nnf::Kind::kOr && node.last - node.first > 1) check_disagreement(node);
  }

  void check_disagreement(const Nnf::Node& node) const {
    if (node.literal == 0) fail(word_, "the variable on which the nodes below an O disagree, not 0");
    int num_true = 0, num_false = 0;
    for (std::uint32_t e = node.first; e < node.last; ++e) {
      num_true += has_literal(nnf_.edges[e], node.literal) ? 1 : 0;
      num_false += has_literal(nnf_.edges[e], -node.literal) ? 1 : 0;
    }
    if (node.last - node.first == 2 && num_true == 1 && num_false == 1) return;
    fail(word_, fmt::format("two nodes, one with the literal {} and one with {}", node.literal, -node.literal));
  }
  [[nodiscard]] bool has_literal(std::uint32_t index, int literal) const {
    const Nnf::Node& node = nnf_.nodes[index];
    if (node.kind == Nnf::Kind::kLiteral) return node.literal == literal;
    if (node.kind == Nnf::Kind::kOr) return false;
    return std::any_of(nnf_.edges.begin() + node.first, nnf_.edges.begin() + node.last, [&](std::uint32_t below) {
      return nnf_.nodes[below].kind == Nnf::Kind::kLiteral && nnf_.nodes[below].literal == literal;
    });
  }

  std::string_view text_, source_name_, word_;
  const Limits limits_;
  const Stopwatch clock_;
  std::size_t at_ = 0;
  Nnf nnf_;
};

}  // namespace

std::string format_nnf(const Circuit& circuit) { return NnfWriter(circuit.shape()).write(); }

void write_compiled(const Circuit& circuit, const std::filesystem::path& path) {
  if (path.extension() != ".nnf") return write_circuit(circuit, path);
  write_file_atomically(path, format_nnf(circuit));
}

Nnf parse_nnf(std::string_view text, std::string_view source_name, const Limits& limits) {
  return NnfReader(text, source_name, limits).read();
}

// Variables that a node does not mention may have any state: where nodes below an O have fewer than the O, they count
// twice for each of these.
std::string count_nnf(const Nnf& nnf, const Limits& limits) {
  constexpr double kDigitsPerVariable = 0.302;
  check_bits(static_cast<double>(nnf.nodes.size()), nnf.num_variables, limits, "");
  const Stopwatch clock;
  const double last_seconds = seconds_for_digits(kDigitsPerVariable * nnf.num_variables);
  VariableSets sets(nnf.nodes.size(), nnf.num_variables);
  std::vector<Integer> counts(nnf.nodes.size());
  for (std::size_t n = 0; n < nnf.nodes.size(); ++n) {
    const Nnf::Node& node = nnf.nodes[n];
    if (node.kind == Nnf::Kind::kLiteral) sets.add(n, std::abs(node.literal));
    for (std::uint32_t e = node.first; e < node.last; ++e) sets.unite(n, nnf.edges[e]);
    if (node.kind != Nnf::Kind::kOr) counts[n] = Integer(1);
    for (std::uint32_t e = node.first; e < node.last; ++e) {
      const std::uint32_t below = nnf.edges[e];
      if (node.kind == Nnf::Kind::kAnd) {
        counts[n] *= counts[below];
        continue;
      }
      check_time(clock.seconds() + last_seconds, limits, "");
      Integer count = counts[below];
      count.shift(sets.size(n) - sets.size(below));
      counts[n] += count;
    }
  }
  check_time(clock.seconds() + last_seconds, limits, "");
  counts.back().shift(static_cast<std::uint64_t>(nnf.num_variables) - sets.size(nnf.nodes.size() - 1));
  return counts.back().text();
}

}  // namespace treesample
