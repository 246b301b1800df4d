#include "count/circuit_trace.hpp"

#include <algorithm>

namespace treesample {

CircuitTrace::CircuitTrace(const ReducedModel& model, std::uint64_t memory_limit_bytes)
    : model_(model), memory_limit_bytes_(memory_limit_bytes) {
  shape_.set_variables(model.num_original_states);
  shape_.nodes.push_back(0);
}

void CircuitTrace::open_term(TermTrace& trace, const SplitTrace& split,
                             std::optional<std::pair<int, int>> decided) const {
  trace.fixed.clear();
  trace.free.clear();
  trace.children.clear();
  trace.constant = split.constant;
  if (decided) trace.fixed.push_back(state_number(decided->first, decided->second));
  for (const auto& fixed : split.fixed) {
    if (fixed != decided) trace.fixed.push_back(state_number(fixed.first, fixed.second));
  }
  for (const auto& [variable, state] : split.free) trace.free.push_back(state_number(variable, state));
}

void CircuitTrace::close_term(TermTrace& trace, bool is_zero) {
  if (is_zero || !is_kept_) return;
  for (const auto* const list : {&trace.fixed, &trace.free, &trace.children}) {
    trace.done.push_back(static_cast<std::uint32_t>(list->size()));
    trace.done.insert(trace.done.end(), list->begin(), list->end());
  }
  std::uint32_t constant = 0;
  if (!trace.constant.is_one()) {
    shape_.constants.push_back(trace.constant);
    constant = static_cast<std::uint32_t>(shape_.constants.size());
  }
  trace.done.push_back(constant);
  ++trace.num_done;
}

std::uint32_t CircuitTrace::add_node(TermTrace& trace) {
  if (is_kept_) {
    shape_.words.push_back(trace.num_done);
    shape_.words.insert(shape_.words.end(), trace.done.begin(), trace.done.end());
    shape_.nodes.push_back(shape_.words.size());
    if (bytes() > memory_limit_bytes_) {
      is_kept_ = false;
      shape_ = {};
    }
  }
  trace.done.clear();
  trace.num_done = 0;
  return is_kept_ ? static_cast<std::uint32_t>(shape_.num_nodes() - 1) : 0;
}

std::shared_ptr<const CircuitShape> CircuitTrace::finish() {
  std::vector<char> is_used(shape_.num_nodes(), 0);
  is_used.back() = 1;
  for (std::size_t node = shape_.num_nodes(); node-- > 0;) {
    if (is_used[node] == 0) continue;
    shape_.for_each_term(node, [&](const CircuitTerm& term) {
      for (const std::uint32_t child : term.children) is_used[child] = 1;
    });
  }
  auto result = std::make_shared<CircuitShape>();
  result->set_variables(shape_.num_states);
  result->state_weights = shape_.state_weights;
  result->log_constant = shape_.log_constant;
  result->log_error = shape_.log_error;
  result->log_range = shape_.log_range;
  result->nodes.push_back(0);
  std::vector<std::uint32_t> number_of(shape_.num_nodes(), 0);
  for (std::size_t node = 0; node < shape_.num_nodes(); ++node) {
    if (is_used[node] == 0) continue;
    number_of[node] = static_cast<std::uint32_t>(result->num_nodes());
    std::vector<std::uint32_t>& words = result->words;
    words.push_back(shape_.words[shape_.nodes[node]]);
    shape_.for_each_term(node, [&](const CircuitTerm& term) {
      const std::size_t size_at = words.size();
      words.push_back(static_cast<std::uint32_t>(term.fixed.size()));
      words.insert(words.end(), term.fixed.begin(), term.fixed.end());
      if (node == shape_.root()) {  // it has one term
        for (std::size_t v = 0; v < model_.fixed_states.size(); ++v) {
          if (model_.fixed_states[v] < 0) continue;
          words.push_back(result->first_state[v] + static_cast<std::uint32_t>(model_.fixed_states[v]));
          ++words[size_at];
        }
      }
      words.push_back(static_cast<std::uint32_t>(term.free.size()));
      words.insert(words.end(), term.free.begin(), term.free.end());
      words.push_back(static_cast<std::uint32_t>(term.children.size()));
      for (const std::uint32_t child : term.children) words.push_back(number_of[child]);
      if (term.constant != 0) result->constants.push_back(shape_.constants[term.constant - 1]);
      words.push_back(term.constant == 0 ? 0 : static_cast<std::uint32_t>(result->constants.size()));
    });
    result->nodes.push_back(words.size());
  }
  return result;
}

}  // namespace treesample
