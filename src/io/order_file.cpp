#include "treesample/io/order_file.hpp"

#include <fmt/format.h>

#include <string_view>

#include "source_text.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/model/names.hpp"
#include "treesample/parse_number.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

constexpr std::string_view kSlice = "slice ";

class OrderReader {
 public:
  OrderReader(const std::filesystem::path& path, const FactorGraph& graph)
      : path_(path), names_(graph), place_(static_cast<std::size_t>(graph.num_variables()), 0) {}

  OrderFile read() {
    const std::string text = read_file(path_);
    for (std::size_t first = 0; first < text.size();) {
      const std::size_t end = std::min(text.find('\n', first), text.size());
      ++line_;
      add(trimmed(std::string_view(text).substr(first, end - first)));
      first = end + 1;
    }
    for (std::size_t v = 0; v < place_.size(); ++v) {
      if (place_[v] == 0) {
        throw Error(ErrorCode::kParse, fmt::format("{}: variable '{}' is missing; allowed is an order of all variables",
                                                   path_.string(), name_of(static_cast<int>(v))));
      }
    }
    return std::move(found_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCode::kParse, fmt::format("{}, line {}: {}", path_.string(), line_, why));
  }
  [[nodiscard]] std::string name_of(int v) const { return printable(variable_name(names_.graph(), v)); }

  void add(std::string_view line) {
    if (line.empty() || line.front() == '#') return;
    const bool is_slice = line.starts_with(kSlice);
    if (is_slice) line = trimmed(line.substr(kSlice.size()));
    const int v = variable(line);
    if (is_slice) {
      if (std::find(found_.slice_variables.begin(), found_.slice_variables.end(), v) != found_.slice_variables.end()) {
        refuse(fmt::format("the model is cut twice at '{}'", name_of(v)));
      }
      found_.slice_variables.push_back(v);
      return;
    }
    if (place_[v] > 0) refuse(fmt::format("variable '{}' is in line {} already", name_of(v), place_[v]));
    place_[v] = line_;
    found_.order.push_back(v);
  }

  [[nodiscard]] int variable(std::string_view word) const {
    std::vector<std::string> list;
    try {
      list = split_names(word);
    } catch (const Error& error) {
      refuse(error.what());
    }
    if (list.size() != 1) refuse("there are several names; allowed is one on each line, in quotes if it has a comma");
    if (const int v = names_.find_variable(list.front()); v >= 0) return v;
    const auto number = parse_integer(word);
    if (number && *number >= 0 && *number < std::ssize(place_)) return static_cast<int>(*number);
    refuse(fmt::format("'{}' is no variable of the model; allowed are names, and numbers from 0 to {}",
                       printable(shortened(list.front(), 60)), std::ssize(place_) - 1));
  }

  std::filesystem::path path_;
  Names names_;
  std::vector<int> place_;  // by variable: its line; 0: not there yet
  int line_ = 0;
  OrderFile found_;
};

}  // namespace

OrderFile read_order(const std::filesystem::path& path, const FactorGraph& graph) {
  return OrderReader(path, graph).read();
}

// A name that the reader would take for something else is quoted; one that several variables have is replaced by a
// number.
std::string order_text(const OrderFile& order, const FactorGraph& graph, const std::vector<std::string>& remarks) {
  const Names names(graph);
  const auto word = [&](int v) {
    const std::string name = variable_name(graph, v);
    if (name.find_first_of("\n\r") != std::string::npos || names.find_variable(name) != v) return std::to_string(v);
    std::string quoted = quoted_name(name);
    if (quoted.starts_with(kSlice) || quoted.starts_with('#')) quoted = fmt::format("\"{}\"", name);
    return quoted;
  };
  std::string text;
  for (const std::string& remark : remarks) text += "# " + remark + "\n";
  for (const int v : order.slice_variables) text += std::string(kSlice) + word(v) + "\n";
  for (const int v : order.order) text += word(v) + "\n";
  return text;
}

}  // namespace treesample
