// One purse and one queue for values of functions: price, reserve, ask, remember, charge.
//
// Whoever wants such values submits a request and gets it back from wait() when all of it is known. A request has
// chains: questions that are asked one after the other, until a value is -inf, because nothing after that matters.
//
//   price     the most that a request can cost. can_pay() compares it with what is left of the budget and of new calls.
//   reserve   submit() sets the price aside, so that requests under way cannot exceed the budget together.
//   ask       through the model's evaluation queue if that answers the function; otherwise the function is called now.
//   remember  a value that is known is not asked for again.
//   charge    wait() gives the price back and charges the cost. States that were paid for before are not a call.
//
// Charges do not depend on the order in which answers arrive.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "math/compensated_sum.hpp"
#include "treesample/model/evaluation_queue.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/space/answer_order.hpp"
#include "treesample/space/budget.hpp"

namespace treesample {

// A value of the function that its question asked for.
struct CallValue {
  FactorValue value;
  bool is_missing = false;  // a failure that leaves these states out of the model
};

struct CallChain {
  std::vector<OracleQuestion> questions = {};
  Spending tables = {};                // what it costs beside the functions
  double table_sum = 0.0;              // for whoever submits it
  std::vector<CallValue> values = {};  // of the first questions; after -inf there are no more
  double seconds = 0.0;                // of its calls
};

struct CallRequest {
  Spending price;  // the most that it can cost
  std::vector<CallChain> chains;
  // The next three are for whoever submits the request, who gets them back.
  Assignment x = {};
  std::int64_t tag = 0;
  CompensatedSum density = {};      // of the tables
  std::optional<Error> error = {};  // set if a function failed permanently; nothing was charged then
};

enum class Remembers {
  kAll,
  kQueueAlone,  // values of the queue, which remembers them itself; other functions are called, and charged, every time
};

// True if the graph's queue answers the function.
bool is_queued(const FactorGraph& graph, int factor);

// One value and what it cost.
struct AskedValue {
  double log_value = 0.0;
  Spending spent = {};  // for these states; nothing but seconds where the queue had them from a call of this run
};

// Asks one question and waits: the queue, which remembers, or else the function, which is paid for every time. The
// budget knows whether the call is new; charging it is left to whoever asks. Throws what the queue or the function
// throws.
AskedValue ask_now(const FactorGraph& graph, int factor, std::span<const int> states, Budget& budget);

class Caller {
 public:
  // Keeps references to the graph and the budget.
  Caller(const FactorGraph& graph, Budget& budget, AnswerOrder order, Remembers remembers = Remembers::kAll);

  // The price of one evaluation of a function, in calls and seconds. A function without a declared cost counts as less
  // than any cost but more than nothing, so that a budget of seconds allows it as long as something is left.
  static Spending price_of(const Factor& function) { return {0, 1, function.cost().value_or(1e-12), 1}; }

  // True if the budget and the limit of new calls allow a request of this price beside those under way.
  [[nodiscard]] bool can_pay(const Spending& price) const;
  // The number of calls that may still be begun (EvaluationQueue::num_left).
  [[nodiscard]] std::int64_t num_left() const;

  // A request for one value.
  [[nodiscard]] CallRequest request(OracleQuestion question, std::int64_t tag) const;
  // Pre: can_pay(request.price).
  void submit(CallRequest request);
  // The same, but returns the request if it is known at once.
  std::optional<CallRequest> submit_unless_known(CallRequest request);
  // Should more be submitted before waiting?
  [[nodiscard]] bool has_room() const;
  [[nodiscard]] int num_pending() const { return static_cast<int>(pending_.size()); }
  [[nodiscard]] int num_under_way() const { return static_cast<int>(under_way_.size()); }
  // The number of chains, of all pending requests, that the queue had to answer when they were submitted.
  [[nodiscard]] int num_asked() const { return num_asked_; }
  // Returns at least one request in the order of arrival, or exactly one in the order of submission, so that nothing
  // depends on how many have arrived. Pre: num_pending() > 0. Throws kInterrupted and kIo as EvaluationQueue::wait_any
  // does.
  std::vector<CallRequest> wait();
  // True if wait() would not wait. Otherwise receive() waits for some answers of the queue.
  [[nodiscard]] bool has_known() const {
    return order_ == AnswerOrder::kSubmission ? pending_.begin()->second.num_open == 0 : !ready_.empty();
  }
  void receive();

 private:
  struct Pending {
    CallRequest request;
    int num_asked = 0;  // chains that the queue had to answer at first
    int num_open = 0;   // chains that wait for an answer
  };
  struct Place {
    std::int64_t id;
    std::size_t chain;
  };
  bool go_on(std::int64_t id, Pending& pending, std::size_t chain);
  void add(CallChain& chain, const OracleQuestion& question, CallValue value);
  void apply(OracleAnswer& answer);
  CallRequest take(std::int64_t id);
  void charge(const CallRequest& request);
  static std::string key(const OracleQuestion& question);

  const FactorGraph* graph_;
  Budget* budget_;
  AnswerOrder order_;
  Remembers remembers_;
  std::unordered_map<std::string, CallValue> known_;  // by function and states
  std::int64_t next_id_ = 0, calls_to_begin_ = 0;     // of all pending requests beyond their first, at most
  int num_asked_ = 0;
  std::map<std::int64_t, Pending> pending_;  // by the order of submission
  std::deque<std::int64_t> ready_;           // by the order of arrival
  std::unordered_map<Ticket, Place> under_way_;
};

}  // namespace treesample
