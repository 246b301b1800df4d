// Answers as one HTML page for people to look at; it needs no other file and no network. The page contains its data as
// JSON (docs/page.md documents them) and shows them. Nothing is written here: the caller gets the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "treesample/math/log_bounds.hpp"
#include "treesample/page/answer_json.hpp"

namespace treesample {

// The certified bounds at one moment of the run.
struct TracePoint {
  double seconds = 0.0;
  std::int64_t evaluations = 0;
  LogBounds log_z = {};
  std::optional<double> estimate = {};
};

// A page about an answer: the question and the certified results, bounds over time (`trace`, in order, may be empty),
// marginals, the most probable configuration, the model's graph, and the nodes of a search with the largest mass.
std::string answer_page(const Answer& answer, const Model& model, const AnswerSource& source,
                        const std::vector<TracePoint>& trace = {});

// A page around any data that web/ can show: a JSON object with the field `kind`. Names in it may be hostile.
std::string page_of(std::string_view title, std::string_view json);

// Escapes any text for HTML, also for use within an attribute.
std::string escaped_html(std::string_view text);

}  // namespace treesample
