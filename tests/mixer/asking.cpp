// Asks `infer` what a case says, and counts what comes back.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>

#include "mixer/doors.hpp"
#include "mixer/from_file.hpp"
#include "mixer/judge.hpp"
#include "treesample/error.hpp"
#include "treesample/infer/answer.hpp"
#include "treesample/infer/cases.hpp"

namespace treesample::mixer {
namespace {

// A request may be refused by naming an option, and a limit of memory may be too small; a model whose values are beyond
// all doubles may be refused, too.
std::string wrong_refusal(const Error& error, const MixedCase& asked) {
  if (dynamic_cast<const OptionError*>(&error) != nullptr && !asked.options.empty()) return "";
  if (error.code() == ErrorCode::kResource && asked.has_option("memory")) return "";
  const bool is_failure = std::string_view(error.what()).find("fails here") != std::string_view::npos;
  if (is_failure && asked.has(MixedFactor::Kind::kFailingFunction)) return "";
  return error.what();
}

// Of the processor, by this thread.
double thread_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The words before the first value, so that refusals of one kind are counted together.
std::string kind_of(std::string message) {
  const std::size_t end = message.find_first_of("0123456789'\"(;");
  return message.substr(0, std::min<std::size_t>(end, 60));
}

// What a question or several cases are answered with.
std::vector<std::string> judged_answers(const MixedCase& asked, InferRequest request, Tally& tally) {
  const Model model = asked.model();
  std::vector<std::string> broken;
  const auto judge = [&](const MixedCase& one, const Answer& answer) {
    if (answer.error && !asked.has(MixedFactor::Kind::kFailingFunction)) {
      ++tally.promises["functions do not fail"].broken;
      broken.push_back(fmt::format("functions do not fail: {}", answer.error->what()));
      return;
    }
    for (std::string& line : broken_in(answer, one, request, tally)) broken.push_back(std::move(line));
  };
  if (asked.cases.empty()) {
    judge(asked, infer(model, request.question, request.limits, request.options));
    return broken;
  }
  std::vector<Case> cases;
  for (const Evidence& seen : asked.cases) cases.push_back({fmt::format("{}", cases.size()), {seen, {}}});
  if (asked.cases.size() > 1) request.question.best = false;  // then cases share their sums
  request.validate_for_cases();
  infer_cases(model, cases, request.question, request.limits, request.options, {},
              [&](const Case& now, const Answer& answer) {
                MixedCase one = asked;
                const Evidence& more = now.observed.states;
                one.evidence.insert(one.evidence.end(), more.begin(), more.end());
                judge(one, answer);
              });
  return broken;
}

}  // namespace

void Tally::add(const Tally& other) {
  for (const auto& [name, count] : other.promises) {
    promises[name].made += count.made;
    promises[name].broken += count.broken;
  }
  for (const auto& [what, count] : other.refusals) refusals[what] += count;
}

std::string Tally::text() const {
  std::string text = "| promise | made | broken |\n|---|---|---|\n";
  for (const auto& [name, count] : promises) text += fmt::format("| {} | {} | {} |\n", name, count.made, count.broken);
  return text;
}

std::vector<std::string> broken_promises(const MixedCase& given, Tally& tally) {
  if (!given.door.empty()) return broken_at_door(given, tally);
  std::vector<std::string> broken;
  const MixedCase asked = given.format.empty() ? given : from_file(given, tally, broken);
  try {
    const InferRequest request = asked.request();
    const double before = thread_seconds();
    for (std::string& line : judged_answers(asked, request, tally)) broken.push_back(std::move(line));
    const double seconds = thread_seconds() - before;
    if (asked.has_option("time")) {
      Tally::Count& count = tally.promises["time"];
      ++count.made;
      if (seconds > 1.05 * request.limits.seconds + 0.2) {
        ++count.broken;
        broken.push_back(fmt::format("time: {:.3f} seconds for {}", seconds, request.limits.seconds));
      }
    }
    return broken;
  } catch (const Error& error) {
    Tally::Count& count = tally.promises["a refusal names an option, or the memory"];
    ++count.made;
    ++tally.refusals[kind_of(error.what())];
    const std::string wrong = wrong_refusal(error, asked);
    if (wrong.empty()) return {};
    ++count.broken;
    return {"refused without an option: " + wrong};
  } catch (const std::exception& error) {  // what a function throws in this thread comes out as it is
    Tally::Count& count = tally.promises["only functions throw what is no Error"];
    ++count.made;
    if (asked.has(MixedFactor::Kind::kFailingFunction)) return {};
    ++count.broken;
    return {fmt::format("only functions throw what is no Error: {}", error.what())};
  }
}

}  // namespace treesample::mixer
