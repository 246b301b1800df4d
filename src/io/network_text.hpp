// What the formats of Bayesian networks have in common when they are written.
#pragma once

#include <string>
#include <string_view>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

// Throws Error (kArgument) unless the graph has one table for each variable as its last one.
void check_network_form(const FactorGraph& graph, std::string_view format);

// The name itself. Throws Error (kArgument) for one that reads back as another: with blanks at its ends or a line
// break.
std::string writable_name(const std::string& name);

// exp of a log-value as a decimal number, as format_uai writes it. Throws Error (kArgument) beyond its range.
void append_network_entry(std::string& text, double log_value);

}  // namespace treesample
