#include "journal_page.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "journal_estimate.hpp"
#include "treesample/io/json_text.hpp"
#include "treesample/page/answer_page.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostCalls = 20'000;

Json call_json(const JournalCalls& calls, const JournalCall& call, std::span<const Variable> variables) {
  Json value;
  if (call.failure.empty()) value = std::isfinite(call.log_value) ? Json(call.log_value) : Json("-inf");
  return {{"number", call.number},
          {"time", call_time(call.finished)},
          {"worker", call.worker},
          {"factor", calls.factors[call.factor].name},
          {"states", call_states(calls, call, variables)},
          {"indices", call.states},
          {"value", std::move(value)},
          {"seconds", call.seconds},
          {"failure", call.failure}};
}

std::vector<std::string> variables_of(const JournalCalls& calls, const std::string& factor) {
  for (const JournalCalls::Factor& one : calls.factors) {
    if (one.name == factor) return one.variables;
  }
  return {};
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json("-inf"); }

// The data about log Z for web/journal_page.js.
Json log_z_json(const ValueEstimate& estimate) {
  Json steps = Json::array();
  for (const ValueEstimate::Step& step : estimate.steps) {
    steps.push_back({{"calls", step.num_values},
                     {"estimate", number(step.log_z)},
                     {"lower", step.log_known ? number(*step.log_known) : Json()}});
  }
  Json share;
  if (!estimate.steps.empty() && estimate.steps.back().log_known) {
    share = std::exp(std::min(0.0, *estimate.steps.back().log_known - estimate.steps.back().log_z));
  }
  return {{"steps", std::move(steps)},    {"share", std::move(share)},       {"exact", estimate.is_exact},
          {"spread", estimate.spread},    {"num_terms", estimate.num_terms}, {"no_estimate", estimate.no_estimate},
          {"no_share", estimate.no_known}};
}

}  // namespace

std::string journal_page(const std::string& file, const JournalSummary& summary, const JournalCalls& calls,
                         const std::optional<JsonModel>& model, double reload_seconds) {
  const std::vector<Variable> variables = model ? model->variables : std::vector<Variable>();
  Json factors = Json::array(), parts = Json::array(), rows = Json::array();
  for (const JournalSummary::Factor& factor : summary.factors) {
    factors.push_back({{"name", factor.name},
                       {"scope", factor.scope},
                       {"variables", variables_of(calls, factor.name)},
                       {"evaluations", factor.num_evaluations},
                       {"seconds", factor.seconds},
                       {"failures", factor.num_failures},
                       {"last_failure", factor.last_failure}});
  }
  for (const JournalSummary::Part& part : summary.parts) parts.push_back(Json::array({part.name, part.fingerprint}));
  const std::size_t first = calls.calls.size() - std::min(calls.calls.size(), kMostCalls);
  for (std::size_t i = first; i < calls.calls.size(); ++i) rows.push_back(call_json(calls, calls.calls[i], variables));
  const std::string title = printable("Journal: " + std::filesystem::path(file).filename().string());
  const Json data = {{"kind", "journal"},
                     {"title", title},
                     {"file", file},
                     {"model", summary.model},
                     {"created", summary.created},
                     {"fingerprint", summary.fingerprint},
                     {"parts", std::move(parts)},
                     {"factors", std::move(factors)},
                     {"num_left_out", first},
                     {"rows", std::move(rows)},
                     {"log_z", model ? log_z_json(journal_estimate(*model, calls)) : Json()},
                     {"damaged", summary.damaged},
                     {"reload_seconds", reload_seconds}};
  return page_of(title, json_text(data));
}

}  // namespace treesample::cli
