// Bayesian networks in the XML interchange format XMLBIF 0.3, as GeNIe, Weka, SamIam and others read and write it:
//
//   <BIF VERSION="0.3"><NETWORK><NAME>asia</NAME>
//   <VARIABLE TYPE="nature"><NAME>tub</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
//   <DEFINITION><FOR>tub</FOR><GIVEN>asia</GIVEN><TABLE>0.05 0.95 0.01 0.99</TABLE></DEFINITION>
//   </NETWORK></BIF>
//
// A table runs through the states of its FOR variable fastest, then through those of the last GIVEN. Document type
// declarations, comments, processing instructions, attributes and PROPERTY elements are skipped. Other features of XML,
// which these files do not use (own entities, name spaces), are refused. Names of elements may be in upper or lower
// case.
//
// The model has one factor per DEFINITION with the scope (GIVEN..., FOR), as in a BIF file. Readers throw Error: kParse
// as "file:line: ...", kIo, kResource.
#pragma once

#include <string>
#include <string_view>

#include "treesample/model/decision_model.hpp"

namespace treesample {

// `source_name` is the name of the file in messages.
FactorGraph parse_xmlbif(std::string_view text, std::string_view source_name);

// The same with variables of the types decision and utility (io/decision_file.hpp). The GIVEN of a decision are what is
// known when it is made; the TABLE of a utility runs through the states of its last GIVEN fastest.
DecisionModel parse_xmlbif_decisions(std::string_view text, std::string_view source_name);

// Throws Error (kArgument) unless the graph has the form of a Bayesian network (model/network.hpp).
std::string format_xmlbif(const FactorGraph& graph);

}  // namespace treesample
