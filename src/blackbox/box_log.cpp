#include "blackbox/box_log.hpp"

#include <fmt/format.h>

#include "io/json_fields.hpp"
#include "treesample/blackbox/domain.hpp"
#include "treesample/io/json_text.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "treesample black box 1";

json row_of(const BoxEvent& event) {
  json row = json::array();
  switch (event.kind) {
    case BoxEvent::kAsk:
      row = {"ask"};
      row.push_back(event.number);
      break;
    case BoxEvent::kCheck:
      row = {"check"};
      row.push_back(event.number);
      break;
    case BoxEvent::kTell:
      row = {"tell", event.number, event.states};
      row.push_back(event.value == kNegInf ? json("-inf") : json(event.value));
      break;
    case BoxEvent::kFail:
      row = {"fail", event.number, event.states, event.why};
      break;
    case BoxEvent::kDone:
      row = {"done"};
      row.push_back(event.states);
      break;
    case BoxEvent::kAnswer:
      row = {"answer"};
      break;
  }
  return row;
}

std::vector<int> read_states(const JsonField& field) {
  std::vector<int> states(static_cast<std::size_t>(field.array_size()));
  for (std::size_t i = 0; i < states.size(); ++i) {
    states[i] = field.at(static_cast<int>(i)).integer(0, Domain::kMostStates);
  }
  return states;
}

BoxEvent read_event(const JsonField& row) {
  constexpr int kMost = 1'000'000'000;
  const int size = row.array_size();
  if (size == 0) row.fail("an event has a name");
  const std::string name = row.at(0).text();
  const auto is = [&](const char* expected, int fields) { return name == expected && size == fields; };
  if (is("ask", 2)) return {BoxEvent::kAsk, row.at(1).integer(0, kMost)};
  if (is("check", 2)) return {BoxEvent::kCheck, row.at(1).integer(0, kMost)};
  if (is("done", 2)) return {BoxEvent::kDone, 0, read_states(row.at(1))};
  if (is("answer", 1)) return {BoxEvent::kAnswer};
  if (is("tell", 4)) {
    return {BoxEvent::kTell, row.at(1).integer(0, kMost), read_states(row.at(2)), row.at(3).log_value()};
  }
  if (is("fail", 4) && row.at(3).json().is_string()) {
    return {BoxEvent::kFail, row.at(1).integer(0, kMost), read_states(row.at(2)), 0.0, row.at(3).json()};
  }
  row.fail("there is no such event");
}

}  // namespace

std::string log_text(const BoxLog& log) {
  json events = json::array();
  for (const BoxEvent& event : log.events) events.push_back(row_of(event));
  return json_text(json{{"format", kFormat}, {"states", log.num_states}, {"events", events}});
}

BoxLog read_log(std::string_view text) {
  constexpr const char* kName = "BlackBox::load";
  const json parsed = parse_json_text(text, kName);
  const JsonField whole(parsed, kName);
  whole.require_object({"format", "states", "events"});
  if (whole.at("format").text() != kFormat) whole.at("format").fail(fmt::format("allowed is \"{}\"", kFormat));
  BoxLog log{.num_states = read_states(whole.at("states")), .events = {}};
  const JsonField events = whole.at("events");
  for (int i = 0; i < events.array_size(); ++i) log.events.push_back(read_event(events.at(i)));
  return log;
}

}  // namespace treesample
