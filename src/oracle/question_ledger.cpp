#include "oracle/question_ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "oracle/journal.hpp"

namespace treesample {
namespace {

std::string key_of(const Job& job) { return fmt::format("{}:{}", job.factor, states_key(job.states)); }

}  // namespace

QuestionLedger::QuestionLedger(std::function<std::size_t(int)> max_batch, int num_workers)
    : max_batch_(std::move(max_batch)), num_workers_(static_cast<std::size_t>(num_workers)) {}

void QuestionLedger::push(Job job) {
  std::string key = key_of(job);
  arrived_.erase(key);  // a question that failed may be asked again
  unsent_[job.factor].push_back(key);
  open_.emplace(std::move(key), Open{std::move(job), next_number_++});
}

bool QuestionLedger::has_batch(bool is_waited_for) const {
  return std::any_of(unsent_.begin(), unsent_.end(), [&](const auto& entry) {
    const auto& [factor, keys] = entry;
    return !keys.empty() && (is_waited_for || keys.size() >= max_batch_(factor));
  });
}

std::vector<std::vector<Job>> QuestionLedger::next_batches(bool is_waited_for) {
  std::vector<std::vector<Job>> batches;
  for (auto& [factor, keys] : unsent_) {
    const std::size_t most = max_batch_(factor);
    while (keys.size() >= most) batches.push_back(batch_of(keys, most));
    const std::size_t share = (keys.size() + num_workers_ - 1) / num_workers_;
    while (is_waited_for && !keys.empty()) batches.push_back(batch_of(keys, std::min(share, keys.size())));
  }
  std::erase_if(batches, [](const std::vector<Job>& batch) { return batch.empty(); });
  return batches;
}

std::vector<Job> QuestionLedger::batch_of(std::deque<std::string>& keys, std::size_t size) {
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < size; ++i) {
    const auto found = open_.find(keys.front());
    keys.pop_front();
    if (found == open_.end()) continue;  // it was answered in the meantime
    found->second.batch = next_batch_;
    ++batches_[next_batch_];
    jobs.push_back(found->second.job);
  }
  ++next_batch_;
  return jobs;
}

void QuestionLedger::ask_all_again() {
  std::map<std::int64_t, const std::string*> in_order;
  for (auto& [key, question] : open_) {
    question.batch = -1;
    in_order.emplace(question.number, &key);
  }
  unsent_.clear();
  batches_.clear();
  for (const auto& [number, key] : in_order) unsent_[open_.at(*key).job.factor].push_back(*key);
}

QuestionLedger::Arrival QuestionLedger::arrive(const Job& job) {
  std::string key = key_of(job);
  const auto found = open_.find(key);
  const bool is_asked = found != open_.end();
  if (is_asked) {
    const auto sent_with = batches_.find(found->second.batch);
    if (sent_with != batches_.end() && --sent_with->second == 0) batches_.erase(sent_with);
    open_.erase(found);
  }
  if (!arrived_.insert(std::move(key)).second) return Arrival::kTwice;
  return is_asked ? Arrival::kAnswer : Arrival::kUnasked;
}

}  // namespace treesample
