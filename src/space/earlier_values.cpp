#include "space/earlier_values.hpp"

#include <algorithm>

namespace treesample {

EarlierValues::EarlierValues(const FactorGraph& graph, std::string run)
    : graph_(&graph), run_(std::move(run)), places_(static_cast<std::size_t>(graph.num_factors())) {
  if (graph.evaluation_queue() == nullptr) return;
  values_ = graph.evaluation_queue()->known_values();
  // Evidence may have decided a function: its value is in a table now.
  std::erase_if(values_, [&](const KnownValue& known) { return graph.factor(known.factor).is_table(); });
  is_over_.assign(values_.size(), false);
  is_told_ = is_over_;
  num_left_ = std::ssize(values_);
  for (std::size_t i = 0; i < values_.size(); ++i) places_[values_[i].factor][key(values_[i].states)].push_back(i);
}

std::vector<int> EarlierValues::states_of(int factor, std::span<const int> x) const {
  std::vector<int> states;
  for (const int v : graph_->factor(factor).scope()) states.push_back(x[v]);
  return states;
}

void EarlierValues::begin() {
  has_begun_ = true;
  EvaluationQueue* const queue = graph_->evaluation_queue();
  if (queue == nullptr) return;
  lessons_ = queue->lessons(run_);
  if (!lessons_.empty()) return;
  lessons_.push_back({0, values_.empty() ? 0 : values_.back().number});
  queue->add_lesson(run_, lessons_.back());
}

void EarlierValues::take(std::int64_t last_number, std::vector<KnownValue>& due) {
  for (std::size_t i = 0; i < values_.size() && values_[i].number <= last_number; ++i) {
    if (is_over_[i]) continue;
    is_over_[i] = is_told_[i] = true;
    --num_left_;
    ++num_due_;
    due.push_back(values_[i]);
  }
}

std::vector<KnownValue> EarlierValues::due(std::int64_t num_asked) {
  if (!has_begun_) begin();
  std::vector<KnownValue> due;
  for (; next_lesson_ < lessons_.size() && lessons_[next_lesson_].num_asked <= num_asked; ++next_lesson_) {
    take(lessons_[next_lesson_].last_number, due);
  }
  if (is_rest_due_) {
    is_rest_due_ = false;
    const Lesson lesson{num_asked, values_.back().number};
    graph_->evaluation_queue()->add_lesson(run_, lesson);
    take(lesson.last_number, due);
  }
  return due;
}

void EarlierValues::note_asked(std::span<const int> x) {
  for (int m = 0; num_left_ > 0 && m < graph_->num_factors(); ++m) {
    if (places_[m].empty()) continue;
    const auto found = places_[m].find(key(states_of(m, x)));
    if (found == places_[m].end()) continue;
    // Of values that were repeated, one after the other is asked for.
    const auto next = std::find_if(found->second.begin(), found->second.end(), [&](auto i) { return !is_over_[i]; });
    if (next == found->second.end()) continue;
    is_over_[*next] = true;
    --num_left_;
  }
}

bool EarlierValues::has_told(std::span<const int> x) const {
  bool has_function = false;
  for (int m = 0; m < graph_->num_factors(); ++m) {
    if (graph_->factor(m).is_table()) continue;
    has_function = true;
    const auto found = places_[m].find(key(states_of(m, x)));
    if (found == places_[m].end() || !is_told_[found->second.front()]) return false;
  }
  return has_function;
}

void EarlierValues::note_answered(std::span<const int> x, std::span<const std::pair<int, double>> values) {
  for (const auto& [factor, value] : values) {
    if (num_left_ > 0 && !places_[factor].contains(key(states_of(factor, x)))) is_rest_due_ = true;
  }
}

}  // namespace treesample
