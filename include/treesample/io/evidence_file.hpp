// Observations by the names of the model (model/names.hpp), as people write them. docs/evidence.md has examples.
//
// On a command line several are separated by commas; a name with , = ~ or quotes goes in double quotes:
//
//   xray=yes            the variable is in this state
//   smoke~0.8,0.2       soft evidence: a weight for each state, in the model's order
//
// In a file the form follows from the extension and, without one of these, from the first word:
//
//   UAI    only numbers (io/uai.hpp)
//   lines  `xray yes`, `Visit to Asia = yes` or `smoke ~ 0.8 0.2`, one observation per line; # begins a comment
//   .csv   the first line has the names of variables, every further line is a case with a state per column. An empty
//          field means nothing observed, and so do ? and NA unless a state has that name; `~0.8 0.2` is soft. A column
//          "case" labels the rows, unless a variable has that name.
//   .json  an object {"xray": "yes", "load": 2, "smoke": [0.8, 0.2], "dysp": {"yes": 0.8, "no": 0.2}}, or a list of
//          such objects: cases. States that an object of weights leaves out have 0. "case" as above.
//
// Readers throw Error: kParse as "file:line: ..." or "file: path: ...", kIo, kResource.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "treesample/model/names.hpp"
#include "treesample/reduce/evidence.hpp"

namespace treesample {

// Each of these adds an observation to the known ones. An observation that is already known changes nothing. Throws
// Error (kArgument) if a variable is observed in two states. Several soft observations of one variable are all kept.
void observe(Observations& known, const Names& names, int variable, int state);
void observe(Observations& known, const Names& names, const Observations& more);
// For the text of a command line. Throws Error (kArgument) as Names does, and for text of any other form.
void observe(Observations& known, const Names& names, std::string_view text);
// True if the text looks like an observation and not like the name of a file.
bool is_observation_text(std::string_view text);

struct Case {
  std::string label;
  Observations observed;
};

// The form follows from `extension`: .csv, .json, anything else.
std::vector<Case> parse_cases(std::string_view text, std::string_view source_name, std::string_view extension,
                              const Names& names);
// All cases of a file; a file in the UAI form, or with lines, has one. Labels are those of the file or, without them,
// 1, 2, ...
std::vector<Case> read_cases(const std::filesystem::path& path, const Names& names);
// The same case by case: only the text of a CSV file is in memory as a whole. The names must outlive the reader.
class CaseReader {
 public:
  CaseReader(const std::filesystem::path& path, const Names& names);
  ~CaseReader();
  CaseReader(const CaseReader&) = delete;
  CaseReader& operator=(const CaseReader&) = delete;
  // Fills in the next case; false after the last one.
  bool next(Case& now);

 private:
  struct Source;
  std::unique_ptr<Source> source_;
};
// The case of a file that has one case. A file without cases means that nothing is observed. Throws kParse for several
// cases.
Observations read_evidence(const std::filesystem::path& path, const Names& names);

// The observations by name: "xray=yes, smoke~0.8,0.2". This text can be read back.
std::string observations_text(const FactorGraph& graph, const Observations& observed);

}  // namespace treesample
