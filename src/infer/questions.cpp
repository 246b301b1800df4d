// What is asked: whether it may be asked like this and of this model, and who answers it. All by the options' rows.
#include <fmt/format.h>

#include "infer/option_field.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {
namespace {

bool is_asked(const OptionRow& row, const InferRequest& request) {
  return row.is_given(request) && row.text(request) != row.initial;
}

void refuse_with(const InferRequest& request, NotWith excluded, const char* why) {
  for (const OptionRow& known : option_rows()) {
    if ((known.not_with & excluded) != 0 && is_asked(known, request)) throw OptionError(known.name, why);
  }
}

}  // namespace

void InferRequest::validate() const {
  for (const OptionRow& known : option_rows()) {
    const std::optional<double> number = known.number(*this);
    // Sizes have no range, and NaN is outside of every range.
    if (!number || known.high == 0.0 || (*number >= known.low && *number <= known.high)) continue;
    throw OptionError(known.name, fmt::format("is {}, allowed are {}", *number, range_text(known, false)));
  }
  if (question.aim == Aim::kBest)
    refuse_with(*this, kNotWithBest, "is not for --question best, which has no probabilities");
  if (options.compile == true) refuse_with(*this, kNotWithCircuits, "is not for circuits, and --compile makes one");
}

void InferRequest::validate_for_cases() const {
  validate();
  refuse_with(*this, kNotWithCases, "is for one answer, and --cases gives many");
}

void check_questions(const Model& model, const InferRequest& request, bool by_circuit) {
  if (by_circuit) refuse_with(request, kNotWithCircuits, "is not for circuits");
  for (const OptionRow& known : option_rows()) {
    if (known.check != nullptr && is_asked(known, request)) known.check(model, request.question);
  }
}

void answer_questions(Answer& answer, const Model& model, const InferRequest& request, const Run& run) {
  for (const OptionRow& known : option_rows()) {
    if (known.answer != nullptr && is_asked(known, request)) known.answer(answer, model, request, run);
  }
}

}  // namespace treesample
