// The values that are known without asking, from the journal or from earlier answers, and what runs did with them.
#include <unordered_map>
#include <utility>

#include "oracle/oracle_set_impl.hpp"

namespace treesample {

std::vector<KnownValue> OracleSet::Impl::known_values() const {
  if (!journal_) return answered_;
  std::unordered_map<std::string, int> factor_of;
  for (std::size_t m = 0; m < factors_.size(); ++m) {
    if (model_.factors[m].source >= 0) factor_of[factors_[m].counts.name] = static_cast<int>(m);
  }
  std::vector<KnownValue> values;
  for (Journal::Known& known : journal_->all()) {
    const auto found = factor_of.find(known.factor);
    if (found == factor_of.end()) continue;
    const FailureRule& rule = source(found->second).on_failure;
    const bool has_failed = !known.value.failure.empty();
    if (has_failed && (options_.retry_failed || rule.kind == FailureRule::Kind::kStop)) continue;
    if (!has_failed) check_value({found->second, known.states}, known.value.log_value);
    const double log_value = has_failed ? rule.counts_as() : known.value.log_value;
    const bool is_missing = has_failed && rule.kind == FailureRule::Kind::kSkip;
    values.push_back({known.value.number, found->second, std::move(known.states), log_value, is_missing});
  }
  return values;
}

std::vector<Lesson> OracleSet::Impl::lessons(const std::string& run) const {
  if (journal_) return journal_->lessons(run);
  const auto found = lessons_.find(run);
  return found == lessons_.end() ? std::vector<Lesson>() : found->second;
}

void OracleSet::Impl::add_lesson(const std::string& run, const Lesson& lesson) {
  if (journal_) {
    journal_->append(run, lesson);
  } else {
    lessons_[run].push_back(lesson);
  }
}

}  // namespace treesample
