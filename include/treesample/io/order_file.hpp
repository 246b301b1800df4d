// Files with an order of elimination, for people and for other programs.
//
// Text, one variable on each line, first removed first, by name or, where no variable has that name, by its number in
// the model, from 0 on. A line `slice NAME` says that the model is cut into slices at this variable, which has its place
// in the order, too. A name in double quotes may have any characters but line breaks; blank lines and lines that begin
// with # are remarks.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct OrderFile {
  std::vector<int> order;            // of all variables
  std::vector<int> slice_variables;  // none: slices are chosen where they are needed
};

// Throws Error (kParse) naming the file and the line: an unknown variable, one that is there twice, or one that is
// missing.
OrderFile read_order(const std::filesystem::path& path, const FactorGraph& graph);
// The contents of such a file, after these remarks.
std::string order_text(const OrderFile& order, const FactorGraph& graph, const std::vector<std::string>& remarks = {});

}  // namespace treesample
