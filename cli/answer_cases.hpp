// Many cases of `treesample infer`: from one file to another.
#pragma once

#include <string>
#include <vector>

#include "infer_display.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample::cli {

struct CaseFiles {
  std::string cases;
  std::string out;           // empty: standard output
  bool is_going_on = false;  // rows that are there already are kept
  bool is_quiet = false;
};

// A table with a row for each case.
void answer_cases(const Model& model, const InferRequest& request, const CaseFiles& files, InferDisplay& display);

// Sets variables of a network as --do says.
void intervene(Model& model, const std::vector<std::string>& done);

}  // namespace treesample::cli
