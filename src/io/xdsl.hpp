// Bayesian networks in XDSL, the format of GeNIe and SMILE:
//
//   <smile version="1.0" id="asia"><nodes>
//   <cpt id="tub"><state id="yes" /><state id="no" /><parents>asia</parents>
//   <probabilities>0.05 0.95 0.01 0.99</probabilities></cpt>
//   </nodes></smile>
//
// A table runs through the states of its node fastest, then through those of the last parent. Read are chance nodes
// with tables (cpt), deterministic nodes (their states by name, one per row) and noisy-MAX nodes, which become tables.
// Positions, texts and colours (extensions, property) are skipped. Equations and networks over time are
// refused, and decisions where a Bayesian network is asked for. Parents may stand after their children.
#pragma once

#include <string>
#include <string_view>

#include "treesample/model/decision_model.hpp"

namespace treesample {

// Throws Error: kParse as "file:line: ...".
FactorGraph parse_xdsl(std::string_view text, std::string_view source_name);

// The same with decisions and utilities (treesample/io/decision_file.hpp).
DecisionModel parse_xdsl_decisions(std::string_view text, std::string_view source_name);

// The format allows letters, digits and _ in names, not beginning with a digit; others are replaced, with a number at
// the end where two became equal. Throws Error (kArgument) unless the graph has the form of a Bayesian network.
std::string format_xdsl(const FactorGraph& graph);

}  // namespace treesample
