// How an answer is shown.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model_input.hpp"
#include "treesample/infer/answer.hpp"

namespace treesample::cli {

// Beside what the answer knows of itself: how it came about, for the record in JSON.
using Settings = std::vector<std::pair<std::string, std::string>>;

// The processor time that showing the samples will take, by a trial with some of them: --time has to leave room for it.
double seconds_to_show_samples(const std::vector<Assignment>& samples, const FactorGraph& graph, bool as_text,
                               bool as_json);

// The states of the variables of a query in a row of its probabilities.
Evidence query_states(const QueryAnswer& query, const FactorGraph& graph, std::size_t row);

// A short readable summary on standard output.
void print_summary(const Answer& answer, const ModelInput& input);

// Everything as one JSON object; "-" is standard output. Infinite numbers are the strings "inf" and "-inf".
void write_json(const Answer& answer, const ModelInput& input, const Settings& settings, const std::string& path);

}  // namespace treesample::cli
