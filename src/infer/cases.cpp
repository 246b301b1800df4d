#include "treesample/infer/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "infer/policy.hpp"
#include "infer/run.hpp"
#include "infer/shared_cases.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"

namespace treesample {
namespace {

// That are read, sorted and answered together: enough to find many alike.
constexpr std::size_t kCasesTogether = std::size_t{1} << 15;

class CaseRun {
 public:
  CaseRun(const Model& model, InferRequest request, const Observer& observer, const TakeCase& take)
      : model_(model),
        request_(std::move(request)),
        observer_(observer),
        take_(take),
        run_(request_.limits.seconds < kNoTimeLimit ? request_.limits.seconds : HUGE_VAL, observer),
        shared_(SharedCases::make(model, request_, run_)) {
    // A remark that would be repeated for every case is made once.
    observer_.remark = [&](const std::string& text) {
      if (observer.remark && told_.insert(text).second) observer.remark(text);
    };
  }

  // `num_after`: cases that are still to come, at least; `is_all` says whether these are all. False at the end of the
  // time, or when asked to stop.
  bool answer(std::span<const Case> cases, std::size_t num_after, bool is_all) {
    is_all_known_ = is_all;
    // Where the time has ended meanwhile, none of them is answered.
    if (shared_ && !shared_->solve(cases) && !is_going_on(cases.size() + num_after)) return false;
    find_order(cases.size() + num_after);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (const Answer* const known = shared_ ? shared_->answer(i) : nullptr) {
        take_(cases[i], *known);
      } else {
        if (!is_going_on(cases.size() - i + num_after)) return false;
        answer_alone(cases[i], cases.size() - i + num_after);
      }
      ++num_answered_;
    }
    return is_going_on(num_after);
  }

 private:
  // One order serves all cases: an order that is good without evidence is good enough with it, and for small models
  // finding it takes most of the time. A circuit, whose graph is one function of all variables, and other functions are
  // not eliminated.
  void find_order(std::size_t num_cases) {
    const bool is_given = !request_.options.elimination_order.empty() || request_.options.order_file;
    if (num_cases < 2 || is_given || has_order_ || !model_.graph.has_only_tables()) return;
    if (shared_ && shared_->has_all()) return;
    has_order_ = true;
    EliminationOptions elimination;
    elimination.seed = request_.options.seed;
    elimination.order_work =
        kEntriesPerSecond * (run_.has_time_limit() ? policy::kCostShare * run_.time_limit() : policy::kOrderSeconds);
    const auto plan = unless_given_up([&] { return plan_elimination(model_.graph, elimination, run_.set_up_end()); });
    if (plan) request_.options.elimination_order = plan->order;
  }

  // The first case is answered even where the time is over.
  bool is_going_on(std::size_t num_left) {
    if (run_.is_interrupted()) return false;
    if (num_answered_ == 0 || !run_.has_time_limit() || run_.seconds_left() > 0.0 || num_left == 0) return true;
    const std::string of_all = is_all_known_ ? fmt::format(" of {}", num_answered_ + num_left) : "";
    observer_.remark(fmt::format("{}{} cases: the time limit (--time) is over", num_answered_, of_all));
    return false;
  }

  void answer_alone(const Case& now, std::size_t num_left) {
    Limits share = request_.limits;
    if (run_.has_time_limit()) share.seconds = std::max(run_.seconds_left() / static_cast<double>(num_left), 1e-3);
    try {
      Model observed = model_;
      observed.observe(now.observed);
      take_(now, infer(observed, request_.question, share, request_.options, observer_));
    } catch (const OptionError&) {
      throw;
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("case {}: {}", now.label, error.what()));
    }
  }

  const Model& model_;
  InferRequest request_;
  Observer observer_;
  const TakeCase& take_;
  Run run_;
  std::unique_ptr<SharedCases> shared_;
  std::set<std::string> told_;
  std::size_t num_answered_ = 0;
  bool has_order_ = false, is_all_known_ = false;
};

}  // namespace

void infer_cases(const Model& model, const CaseSource& source, const Question& question, const Limits& limits,
                 const InferOptions& options, const Observer& observer, const TakeCase& take) {
  check_argument(static_cast<bool>(take), "infer_cases", "nobody takes the answers");
  InferRequest request{question, limits, options};
  request.validate_for_cases();
  CaseRun run(model, std::move(request), observer, take);
  std::vector<Case> cases;
  Case next;
  for (bool has_next = source(next); has_next;) {
    cases.clear();
    while (has_next && cases.size() < kCasesTogether) {
      cases.push_back(std::move(next));
      next = {};
      has_next = source(next);
    }
    if (!run.answer(cases, has_next ? 1 : 0, !has_next)) return;
  }
}

void infer_cases(const Model& model, std::span<const Case> cases, const Question& question, const Limits& limits,
                 const InferOptions& options, const Observer& observer, const TakeCase& take) {
  check_argument(static_cast<bool>(take), "infer_cases", "nobody takes the answers");
  InferRequest request{question, limits, options};
  request.validate_for_cases();
  CaseRun run(model, std::move(request), observer, take);
  while (!cases.empty()) {
    const std::size_t count = std::min(cases.size(), kCasesTogether);
    if (!run.answer(cases.first(count), cases.size() - count, true)) return;
    cases = cases.subspan(count);
  }
}

}  // namespace treesample
