// Answers as one HTML page for people to look at, which needs no other file and no network. It shows data that it
// contains as JSON; docs/page.md documents them. Nothing is written here: the caller gets the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "treesample/math/log_bounds.hpp"
#include "treesample/page/answer_json.hpp"

namespace treesample {

// What was certified at one moment of the run.
struct TracePoint {
  double seconds = 0.0;
  std::int64_t evaluations = 0;
  LogBounds log_z = {};
  std::optional<double> estimate = {};
};

// A page about an answer: what was asked and what is certified, bounds over time (`trace`, in order, may be empty),
// marginals, the most probable configuration, the model's graph, and the nodes of a search with the largest mass.
std::string answer_page(const Answer& answer, const Model& model, const AnswerSource& source,
                        const std::vector<TracePoint>& trace = {});

// The page around any data that web/ knows how to show: a JSON object with the field `kind`. Names in it may be
// hostile.
std::string page_of(std::string_view title, std::string_view json);

// Any text as HTML, also within an attribute.
std::string escaped_html(std::string_view text);

}  // namespace treesample
