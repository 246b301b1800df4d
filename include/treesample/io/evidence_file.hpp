// What was observed, by the names of the model (model/names.hpp), as people write it down. docs/evidence.md has
// examples.
//
// On a command line, several with commas; a name with , = ~ or quotes in it stands in double quotes:
//
//   xray=yes            the variable is in this state
//   smoke~0.8,0.2       soft evidence: a weight for each state, in the model's order
//
// In a file, told apart by the extension and, without one of these, by the first word:
//
//   UAI    numbers alone (io/uai.hpp)
//   lines  `xray yes`, `Visit to Asia = yes` or `smoke ~ 0.8 0.2`, one observation per line; # begins a comment
//   .csv   the first line has the names of variables, every further one a case: a state per column; an empty field, and
//          ? and NA where no state is called so, is nothing observed; `~0.8 0.2` is soft. A column "case", unless a
//          variable is called so, labels the rows.
//   .json  an object {"xray": "yes", "load": 2, "smoke": [0.8, 0.2], "dysp": {"yes": 0.8, "no": 0.2}}, or a list of
//          such objects: cases. States that an object of weights leaves out have 0. "case" as above.
//
// Readers throw Error: kParse as "file:line: ..." or "file: path: ...", kIo, kResource.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "treesample/model/names.hpp"
#include "treesample/reduce/evidence.hpp"

namespace treesample {

// Adds to what is known. An observation that is there already changes nothing. Throw Error (kArgument) where a variable
// is observed in two states; soft observations of one variable add up.
void observe(Observations& known, const Names& names, int variable, int state);
void observe(Observations& known, const Names& names, const Observations& more);
// The text of a command line. Throws Error (kArgument) as Names does, and for text that is none of the above.
void observe(Observations& known, const Names& names, std::string_view text);
// Whether it looks like one: a file is named otherwise.
bool is_observation_text(std::string_view text);

struct Case {
  std::string label;
  Observations observed;
};

// `extension` tells the form: .csv, .json, anything else.
std::vector<Case> parse_cases(std::string_view text, std::string_view source_name, std::string_view extension,
                              const Names& names);
// All cases of a file; of one in the UAI form or of lines, one. Labels are those of the file, else 1, 2, ...
std::vector<Case> read_cases(const std::filesystem::path& path, const Names& names);
// The one case of a file; none at all is nothing observed. Throws kParse for several.
Observations read_evidence(const std::filesystem::path& path, const Names& names);

// By name: "xray=yes, smoke~0.8,0.2"; such a text reads back as the same.
std::string observations_text(const FactorGraph& graph, const Observations& observed);

}  // namespace treesample
