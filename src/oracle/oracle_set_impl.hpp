// The implementation of OracleSet.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "oracle/journal.hpp"
#include "oracle/make_evaluators.hpp"
#include "oracle/oracle_model.hpp"
#include "oracle/reliability.hpp"
#include "treesample/oracle/oracle_set.hpp"

namespace treesample {

class OracleSet::Impl {
 public:
  Impl(OracleModel model, const OracleOptions& options, std::shared_ptr<EvaluationQueue> self);
  ~Impl();

  double evaluate(int factor, std::span<const int> states);
  Ticket submit(std::vector<OracleQuestion> questions);
  std::vector<OracleAnswer> wait_any();
  OracleAnswer wait(Ticket ticket);
  ShouldStop set_should_stop(ShouldStop should_stop) { return std::exchange(should_stop_, std::move(should_stop)); }
  std::function<void(const std::string&)> set_remark(std::function<void(const std::string&)> remark) {
    return std::exchange(options_.remark, std::move(remark));
  }
  void finish();
  [[nodiscard]] std::vector<OracleCounts> counts() const;
  [[nodiscard]] const std::vector<OracleCall>& calls() const { return calls_; }
  [[nodiscard]] std::int64_t num_answered() const;
  [[nodiscard]] bool can_repeat() const { return !options_.redis; }
  [[nodiscard]] std::vector<KnownValue> known_values() const;
  [[nodiscard]] std::vector<Lesson> lessons(const std::string& run) const;
  void add_lesson(const std::string& run, const Lesson& lesson);
  [[nodiscard]] std::optional<double> cost(int factor) const;
  [[nodiscard]] const FactorGraph& graph() const { return graph_; }
  [[nodiscard]] bool answers(int factor) const {
    return factor >= 0 && factor < static_cast<int>(model_.factors.size()) && model_.factors[factor].source >= 0;
  }
  [[nodiscard]] int num_workers() const;
  [[nodiscard]] int max_under_way() const;
  [[nodiscard]] int num_pending() const { return static_cast<int>(tickets_.size()); }
  void set_most_new(std::int64_t count) { most_begun_ = count == kUnlimited ? kUnlimited : num_begun_ + count; }
  [[nodiscard]] std::int64_t num_left() const {
    return most_begun_ == kUnlimited ? kUnlimited : most_begun_ - num_begun_;
  }

 private:
  // The place in an answer that waits for a value.
  struct Slot {
    Ticket ticket;
    std::size_t position;
  };
  struct FactorState {
    std::unordered_map<std::string, FactorValue> known;  // by job_key
    std::unordered_set<std::string> missing;             // those of them that are OracleAnswer::is_missing
    std::unordered_map<std::string, std::vector<Slot>> under_way;
    OracleCounts counts;
    Journal::Totals recorded;  // totals of the journal when it was opened
  };
  struct TicketState {
    OracleAnswer answer;
    std::size_t num_open = 0;  // questions without a value
  };
  // The value or the error that answers a question.
  struct Outcome {
    FactorValue value = {};
    double cost = 0.0;
    std::optional<Error> error = {};
    bool is_missing = false;
  };
  static void fill(OracleAnswer& answer, std::size_t position, const Outcome& outcome);
  void check_question(const OracleQuestion& question) const;
  [[nodiscard]] const OracleSource& source(int factor) const { return model_.sources[model_.factors[factor].source]; }
  [[nodiscard]] std::string subject(const Job& job) const;
  std::optional<Outcome> look_up(const OracleQuestion& question, const std::string& key);
  void collect(bool wait);
  void apply(const JobResult& result, const std::string& key);
  // Throws kArgument for a value above the declared maximum.
  void check_value(const Job& job, double log_value) const;
  Outcome use_value(const Job& job, const std::string& key, const FactorValue& value);
  void remember(const Job& job, const std::string& key, const FactorValue& value, bool is_missing);
  Outcome use_failure(const Job& job, const std::string& key, const Error& error);
  void record(const Job& job, const Outcome& outcome, double seconds, bool is_from_journal, std::string failure);
  [[nodiscard]] double charge(int factor, double seconds) const {
    return model_.factors[factor].factor.cost().value_or(seconds);
  }

  OracleModel model_;
  OracleOptions options_;
  FactorGraph graph_;
  std::vector<FactorState> factors_;      // by index in the model
  std::vector<Reliability> reliability_;  // by source of values
  std::vector<OracleCall> calls_;
  std::map<Ticket, TicketState> tickets_;
  std::deque<Ticket> ready_;  // tickets that were answered or failed, in that order
  Ticket next_ticket_ = 0;
  std::int64_t num_begun_ = 0, most_begun_ = kUnlimited;  // evaluations that workers began, including those that failed
  std::vector<JobResult> arrived_;                        // results from the workers that are not recorded yet
  bool is_finished_ = false;
  // Without a journal: the answers, in their order, and what runs were told.
  std::vector<KnownValue> answered_;
  std::map<std::string, std::vector<Lesson>> lessons_;
  ShouldStop should_stop_;
  std::optional<Journal> journal_;
  mutable int most_workers_ = 1;      // that the executor had so far
  std::unique_ptr<Evaluators> pool_;  // last, so that it ends before everything else
};

}  // namespace treesample
