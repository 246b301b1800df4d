// Files with an order of elimination, for people and for other programs.
//
// The file is text with one variable on each line, in the order of removal. A variable is given by its name or, if no
// variable has that name, by its number in the model, from 0 on. A line `slice NAME` says that the model is cut into
// slices at this variable, which also has its place in the order. A name in double quotes may have any characters
// except line breaks. Blank lines and lines that begin with # are remarks.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct OrderFile {
  std::vector<int> order;            // of all variables
  std::vector<int> slice_variables;  // none: slices are chosen when they are needed
};

// Throws Error (kParse) naming the file and the line for an unknown variable, for one that is listed twice, and for one
// that is missing.
OrderFile read_order(const std::filesystem::path& path, const FactorGraph& graph);
// The contents of such a file, with these remarks at the top.
std::string order_text(const OrderFile& order, const FactorGraph& graph, const std::vector<std::string>& remarks = {});

}  // namespace treesample
