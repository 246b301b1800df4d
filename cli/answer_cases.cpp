#include "answer_cases.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "case_table.hpp"
#include "terminal.hpp"
#include "treesample/error.hpp"
#include "treesample/infer/cases.hpp"
#include "treesample/model/names.hpp"
#include "treesample/reduce/intervention.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {

void answer_cases(const Model& model, const InferRequest& request, const CaseFiles& files, InferDisplay& display) {
  const Names names(model.graph);
  CaseReader reader(files.cases, names);
  CaseTable table(files.out, files.is_going_on);
  std::size_t num_read = 0;
  const CaseSource source = [&](Case& next) {
    while (reader.next(next)) {
      if (num_read++ >= table.num_kept()) return true;
      table.check_kept(num_read - 1, next);
    }
    return false;
  };
  const auto& [question, limits, options] = request;
  Question asked = question;
  asked.best = question.aim == Aim::kBest;
  std::optional<Error> failed;  // the first one; its row is the answer so far, all other rows are complete
  const auto take = [&](const Case& now, const Answer& answer) {
    table.add(now.label, answer, model);
    if (!answer.error || failed) return;
    failed.emplace(answer.error->code(), fmt::format("case {}: {}", now.label, answer.error->what()));
  };
  if (table.num_kept() > 0) note(files.is_quiet, fmt::format("going on after {} cases", table.num_kept()));
  infer_cases(model, source, asked, limits, options, display.observer(), take);
  if (num_read == 0)
    note(files.is_quiet, fmt::format("{}: there are no cases: no line follows that of names", files.cases));
  if (model.programs) model.programs->finish();
  display.clear();
  for (Case rest; reader.next(rest);) ++num_read;  // after the end of the time
  table.finish();
  if (!files.out.empty()) {
    fmt::print("cases       {} of {} in {}\n", table.num_rows(), num_read, printable(files.out));
  }
  if (failed) throw Error(*failed);
}

void intervene(Model& model, const std::vector<std::string>& texts) {
  const Names names(model.graph);
  Observations done;
  try {
    for (const std::string& text : texts) observe(done, names, text);
    check_argument(done.soft.empty(), "do", "a variable is set to one state, NAME=STATE");
    model.graph = intervened(model.graph, done.states);
  } catch (const Error& error) {
    const std::string_view message = error.what();
    throw Error(error.code(), fmt::format("--{}{}", message.starts_with("do: ") ? "" : "do: ", message));
  }
}

}  // namespace treesample::cli
