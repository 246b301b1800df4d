#include "treesample/reduce/propagator.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr int kWordBits = 64;
constexpr int kLowBits = 6;  // of an entry's number: its place in a word

}  // namespace

Propagator::Propagator(const FactorGraph& graph) {
  const auto num_variables = static_cast<std::size_t>(graph.num_variables());
  constraints_of_.resize(num_variables);
  for (int v = 0; v < graph.num_variables(); ++v) {
    first_domain_word_.push_back(domains_.size());
    num_left_.push_back(graph.num_states(v));
    for (int left = graph.num_states(v); left > 0; left -= kWordBits) {
      domains_.push_back(left >= kWordBits ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1);
    }
  }
  first_domain_word_.push_back(domains_.size());
  for (int m = 0; m < graph.num_factors(); ++m) {
    const Factor& factor = graph.factor(m);
    if (factor.is_clause()) {
      add_clause(graph, m);
      continue;
    }
    if (!factor.is_table()) continue;
    const std::vector<double>& values = factor.log_values();
    if (std::find(values.begin(), values.end(), kNegInf) == values.end()) continue;
    if (factor.scope().empty()) {
      fail(m);
    } else {
      add_constraint(graph, m);
    }
  }
  masks_.resize(used_.size());
  is_queued_.assign(constraints_.size(), 1);
  for (std::size_t c = 0; c < constraints_.size(); ++c) queue_.push_back(static_cast<int>(c));
  if (is_consistent_) propagate();
  was_consistent_ = is_consistent_;
  trail_.clear();
}

void Propagator::add_fields(const FactorGraph& graph, const std::vector<int>& scope) {
  const std::size_t first_field = fields_.size();
  fields_.resize(first_field + scope.size());
  int begin = 0;
  for (std::size_t i = scope.size(); i-- > 0;) {
    Field& field = fields_[first_field + i];
    field.variable = scope[i];
    const int num_bits = std::bit_width(static_cast<unsigned>(graph.num_states(scope[i]) - 1));
    field.num_low_bits = std::clamp(kLowBits - begin, 0, num_bits);
    field.low_shift = field.num_low_bits > 0 ? begin : 0;
    field.word_shift = std::max(begin - kLowBits, 0);
    field.word_mask = (std::uint32_t{1} << (num_bits - field.num_low_bits)) - 1;
    field.first_mask = used_.size();
    used_.resize(used_.size() + field.word_mask + 1);
    const int low_mask = (1 << field.num_low_bits) - 1;
    for (int place = 0; place < kWordBits; ++place) {
      if ((place >> field.low_shift & low_mask) == 0) field.first_pattern |= std::uint64_t{1} << place;
    }
    begin += num_bits;
  }
}

void Propagator::add_constraint(const FactorGraph& graph, int factor) {
  const std::vector<int>& scope = graph.factor(factor).scope();
  Constraint constraint{.factor = factor, .first_field = fields_.size(), .first_word = words_.size()};
  add_fields(graph, scope);
  constraint.last_field = fields_.size();
  std::vector<int> num_bits;
  num_bits.reserve(scope.size());
  for (const int v : scope) num_bits.push_back(std::bit_width(static_cast<unsigned>(graph.num_states(v) - 1)));
  std::vector<int> x(scope.size(), 0);
  for (const double value : graph.factor(factor).log_values()) {
    if (value != kNegInf) {
      std::uint64_t number = 0;
      for (std::size_t i = 0; i < x.size(); ++i) number = number << num_bits[i] | static_cast<std::uint64_t>(x[i]);
      const auto word = static_cast<std::uint32_t>(number >> kLowBits);
      if (words_.size() == constraint.first_word || words_.back() != word) {
        words_.push_back(word);
        entries_.push_back(0);
      }
      entries_.back() |= std::uint64_t{1} << (number % kWordBits);
    }
    for (std::size_t i = x.size(); i-- > 0;) {  // next entry, last variable fastest
      if (++x[i] < graph.num_states(scope[i])) break;
      x[i] = 0;
    }
  }
  constraint.last_word = words_.size();
  for (const int v : scope) constraints_of_[v].push_back(static_cast<int>(constraints_.size()));
  constraints_.push_back(constraint);
}

void Propagator::add_clause(const FactorGraph& graph, int factor) {
  const Factor& clause = graph.factor(factor);
  Constraint constraint{.factor = factor, .first_literal = literals_.size()};
  for (std::size_t i = 0; i < clause.scope().size(); ++i) {
    literals_.push_back({clause.scope()[i], clause.literals()[i]});
    constraints_of_[clause.scope()[i]].push_back(static_cast<int>(constraints_.size()));
  }
  constraint.last_literal = literals_.size();
  constraints_.push_back(constraint);
}

bool Propagator::assign(int variable, int state) {
  if (!is_left(variable, state)) return fail(-1);
  if (is_fixed(variable)) return true;
  const std::size_t first = first_domain_word_[variable];
  for (std::size_t word = first; word < first_domain_word_[variable + 1]; ++word) {
    const bool is_its_word = word - first == static_cast<std::size_t>(state / kWordBits);
    set_domain_word(variable, word, is_its_word ? std::uint64_t{1} << (state % kWordBits) : 0);
  }
  enqueue(variable, -1);
  return propagate();
}

bool Propagator::remove(int variable, int state) {
  if (!is_left(variable, state)) return true;
  if (is_fixed(variable)) return fail(-1);
  const std::size_t word = first_domain_word_[variable] + static_cast<std::size_t>(state / kWordBits);
  set_domain_word(variable, word, domains_[word] & ~(std::uint64_t{1} << (state % kWordBits)));
  enqueue(variable, -1);
  return propagate();
}

void Propagator::undo(std::size_t mark) {
  for (; trail_.size() > mark; trail_.pop_back()) {
    const auto& [variable, word, old] = trail_.back();
    num_left_[variable] += std::popcount(old) - std::popcount(domains_[word]);
    domains_[word] = old;
  }
  is_consistent_ = was_consistent_;
}

int Propagator::next_left(int variable, int from) const {
  const std::size_t first = first_domain_word_[variable];
  std::size_t word = first + static_cast<std::size_t>(from / kWordBits);
  if (word >= first_domain_word_[variable + 1]) return -1;
  std::uint64_t bits = domains_[word] & ~std::uint64_t{0} << (from % kWordBits);
  while (bits == 0) {
    if (++word == first_domain_word_[variable + 1]) return -1;
    bits = domains_[word];
  }
  return static_cast<int>(word - first) * kWordBits + std::countr_zero(bits);
}

void Propagator::set_domain_word(int variable, std::size_t word, std::uint64_t value) {
  const std::uint64_t old = domains_[word];
  if (old == value) return;
  trail_.push_back({variable, static_cast<std::uint32_t>(word), old});
  num_left_[variable] += std::popcount(value) - std::popcount(old);
  domains_[word] = value;
}

void Propagator::enqueue(int variable, int except) {
  for (const int c : constraints_of_[variable]) {
    if (c == except || is_queued_[c] != 0) continue;
    is_queued_[c] = 1;
    queue_.push_back(c);
  }
}

bool Propagator::propagate() {
  bool is_possible = true;
  std::size_t next = 0;
  while (next < queue_.size()) {  // revise() appends to it
    const int c = queue_[next++];
    is_queued_[c] = 0;
    if (is_possible) is_possible = revise(c);
  }
  queue_.clear();
  return is_possible;
}

// Removes the states that have no support in the constraint. A removed state had no possible entry, so the constraint
// need not be revised again for its own removals.
bool Propagator::revise(int constraint_index) {
  const Constraint& constraint = constraints_[constraint_index];
  if (constraint.first_literal < constraint.last_literal) return revise_clause(constraint_index);
  const Field* const first = fields_.data() + constraint.first_field;
  const Field* const last = fields_.data() + constraint.last_field;
  for (const Field* field = first; field != last; ++field) {
    std::fill_n(masks_.begin() + static_cast<std::ptrdiff_t>(field->first_mask), field->word_mask + 1, 0);
    std::fill_n(used_.begin() + static_cast<std::ptrdiff_t>(field->first_mask), field->word_mask + 1, 0);
    for (int s = next_left(field->variable, 0); s >= 0; s = next_left(field->variable, s + 1)) {
      masks_[field->mask_of_state(s)] |= field->pattern(s);
    }
  }
  constexpr std::size_t kWordsBetweenLooks = 64;
  work_ += static_cast<std::int64_t>(constraint.last_word - constraint.first_word);
  for (std::size_t w = constraint.first_word; w < constraint.last_word; ++w) {
    std::uint64_t possible = entries_[w];
    for (const Field* field = first; field != last; ++field) possible &= masks_[field->mask_of_word(words_[w])];
    if (possible == 0) continue;
    for (const Field* field = first; field != last; ++field) used_[field->mask_of_word(words_[w])] |= possible;
    if ((w - constraint.first_word) % kWordsBetweenLooks == kWordsBetweenLooks - 1 && has_all_supports(constraint)) {
      return true;
    }
  }
  for (const Field* field = first; field != last; ++field) {
    const int v = field->variable;
    bool is_changed = false;
    for (int s = next_left(v, 0); s >= 0; s = next_left(v, s + 1)) {
      if ((used_[field->mask_of_state(s)] & field->pattern(s)) != 0) continue;
      if (is_fixed(v)) return fail(constraint.factor);
      const std::size_t word = first_domain_word_[v] + static_cast<std::size_t>(s / kWordBits);
      set_domain_word(v, word, domains_[word] & ~(std::uint64_t{1} << (s % kWordBits)));
      is_changed = true;
    }
    if (is_changed) enqueue(v, constraint_index);
  }
  return true;
}

bool Propagator::can_hold(const ScopeLiteral& literal) const {
  const auto& [state, is_state] = literal.literal;
  return is_state ? is_left(literal.variable, state)
                  : num_left_[literal.variable] > 1 || !is_left(literal.variable, state);
}

bool Propagator::revise_clause(int constraint_index) {
  const Constraint& constraint = constraints_[constraint_index];
  const std::size_t first = constraint.first_literal;
  std::size_t num_found = 0;
  constexpr std::int64_t kLiteralsPerWord = 4;  // of a table, in time
  std::size_t i = first;
  for (; i < constraint.last_literal && num_found < 2; ++i) {
    if (can_hold(literals_[i])) std::swap(literals_[first + num_found++], literals_[i]);
  }
  work_ += 1 + static_cast<std::int64_t>(i - first) / kLiteralsPerWord;
  if (num_found == 2) return true;
  if (num_found == 0) return fail(constraint.factor);
  const auto [v, literal] = literals_[first];
  for (int s = next_left(v, 0); s >= 0; s = next_left(v, s + 1)) {
    if (literal.holds(s)) continue;
    const std::size_t word = first_domain_word_[v] + static_cast<std::size_t>(s / kWordBits);
    set_domain_word(v, word, domains_[word] & ~(std::uint64_t{1} << (s % kWordBits)));
    enqueue(v, constraint_index);
  }
  return true;
}

bool Propagator::has_all_supports(const Constraint& constraint) const {
  for (std::size_t f = constraint.first_field; f < constraint.last_field; ++f) {
    const Field& field = fields_[f];
    for (int s = next_left(field.variable, 0); s >= 0; s = next_left(field.variable, s + 1)) {
      if ((used_[field.mask_of_state(s)] & field.pattern(s)) == 0) return false;
    }
  }
  return true;
}

bool Propagator::fail(int factor) {
  failed_factor_ = factor;
  is_consistent_ = false;
  return false;
}

}  // namespace treesample
