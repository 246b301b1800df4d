// The bundled environments by name, for doors that cannot name a type: the program and Python.
//
//   const std::unique_ptr<NumberedProgram> grid = make_environment("hypergrid", {{"height", "8"}});
//   const ProgramAnswer answer = infer_program(*grid);
//
// Texts of their states are JSON: [3, 17, 2, 2] is a place of a hypergrid.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "treesample/program/dag_layers.hpp"
#include "treesample/program/program.hpp"

namespace treesample {

struct EnvironmentField {
  std::string name;
  std::string preset;  // its value where none is given; empty: it must be given
  std::string help;
};

// "hypergrid", "bits", "binding", "blocks", "table", "dag", "permutations", "phylogeny", "model", and the families of
// families/family.hpp.
std::vector<std::string> environment_names();
// One sentence on its objects.
std::string environment_summary(std::string_view name);

// Throws Error (kArgument) for an unknown environment.
std::vector<EnvironmentField> environment_fields(std::string_view name);

// Values by the names of fields; numbers as people type them. Throws Error: kArgument for an unknown environment or
// field, a value that is not allowed, and one that is missing; kIo and kParse for files, naming the line.
std::unique_ptr<NumberedProgram> make_environment(std::string_view name,
                                                  const std::map<std::string, std::string>& values = {});

// Scores of sets of parents (program/dag_posterior.hpp) of the columns of a CSV file with their names in its first
// line: "bge" for numbers, "bdeu" for labels.
struct NamedScores {
  std::vector<std::string> names;
  DagScores scores;
};
NamedScores read_dag_scores(const std::string& file, std::string_view score);

}  // namespace treesample
