#include "optimize/cost_network.hpp"

#include <algorithm>
#include <utility>

namespace treesample {

CostNetwork::CostNetwork(const CostTables& model) {
  const auto num_variables = model.num_states.size();
  int first = 0;
  std::size_t most_states = 1;
  for (std::size_t v = 0; v < num_variables; ++v) {
    const int count = model.num_states[v];
    most_states = std::max(most_states, static_cast<std::size_t>(count));
    first_state_.push_back(first);
    first += count;
    size_.push_back(count);
    for (int s = 0; s < count; ++s) {
      live_.push_back(s);
      position_.push_back(s);
    }
    open_position_.push_back(static_cast<int>(open_.size()));
    if (count > 1) open_.push_back(static_cast<int>(v));
  }
  num_open_ = static_cast<int>(open_.size());
  unary_.assign(static_cast<std::size_t>(first), 0);
  uses_.resize(num_variables);
  changes_.assign(num_variables, kNone);
  amounts_.resize(most_states);
  gains_.resize(most_states);
  std::size_t num_shifts = 0, most_places = 1;
  for (const CostTable& table : model.tables) {
    if (table.scope.empty()) bottom_ = std::min(kTop, bottom_ + table.costs.front());
    if (table.scope.size() == 1) {
      const int v = table.scope.front();
      for (int s = 0; s < model.num_states[v]; ++s) {
        Cost& cost = unary_[first_state_[v] + s];
        cost = std::min(kTop, cost + table.costs[s]);
      }
    }
    if (table.scope.size() < 2) continue;
    const int f = num_functions();
    functions_.push_back({static_cast<int>(places_.size()), static_cast<int>(table.scope.size()), table.costs.data()});
    most_places = std::max(most_places, table.scope.size());
    std::size_t stride = table.costs.size();
    for (std::size_t i = 0; i < table.scope.size(); ++i) {
      const int v = table.scope[i];
      stride /= static_cast<std::size_t>(model.num_states[v]);
      places_.push_back({v, stride, num_shifts});
      num_shifts += static_cast<std::size_t>(model.num_states[v]);
      uses_[v].push_back({f, static_cast<int>(i)});
    }
  }
  shifts_.assign(num_shifts, 0);
  terms_.resize(most_places);
}

void CostNetwork::note(int v, Change change) {
  if (changes_[v] == kNone) changed_.push_back(v);
  changes_[v] = static_cast<std::uint8_t>(changes_[v] | change);
}

void CostNetwork::clear_changes() {
  for (const int v : changed_) changes_[v] = kNone;
  changed_.clear();
}

void CostNetwork::mark() { marks_.push_back({saved_.size(), removed_.size(), bottom_, num_open_}); }

void CostNetwork::undo() {
  const Mark mark = marks_.back();
  marks_.pop_back();
  for (; saved_.size() > mark.num_saved; saved_.pop_back()) *saved_.back().where = saved_.back().old;
  for (; removed_.size() > mark.num_removed; removed_.pop_back()) ++size_[removed_.back()];
  bottom_ = mark.bottom;
  num_open_ = mark.num_open;
  clear_changes();
}

bool CostNetwork::remove(int v, int state) {
  const int base = first_state_[v];
  const int last = --size_[v];
  removed_.push_back(v);
  const int other = live_[base + last], place = position_[base + state];
  std::swap(live_[base + place], live_[base + last]);
  position_[base + other] = place;
  position_[base + state] = last;
  note(v, kRemoved);
  if (last != 1) return last > 0;
  const int at = open_position_[v], end = open_[--num_open_];  // it is not open any more
  std::swap(open_[at], open_[num_open_]);
  open_position_[end] = at;
  open_position_[v] = num_open_;
  return true;
}

bool CostNetwork::assign(int v, int state) {
  while (size_[v] > 1) {
    const int last = live_[first_state_[v] + size_[v] - 1];
    const int gone = last != state ? last : live_[first_state_[v]];
    if (!remove(v, gone)) return false;
  }
  return has(v, state) && lift(v);
}

bool CostNetwork::lift(int v) {
  Cost least = kTop;
  for (const int s : states(v)) least = std::min(least, unary(v, s));
  if (least == 0) return true;
  if (least >= top_ - bottom_) return false;
  for (const int s : states(v)) {
    Cost& cost = unary_[first_state_[v] + s];
    set(cost, cost - least);
  }
  bottom_ += least;
  return true;
}

bool CostNetwork::prune() {
  const Cost room = top_ - bottom_;
  const auto prune_one = [&](int v) {
    for (int j = size_[v]; j-- > 0;) {
      const int s = live_[first_state_[v] + j];
      if (unary(v, s) >= room && !remove(v, s)) return false;
    }
    return true;
  };
  if (has_focus()) {
    return std::all_of(focus_.begin(), focus_.end(), [&](int v) { return size_[v] == 1 || prune_one(v); });
  }
  for (int i = num_open_; i-- > 0;) {  // a variable that is fixed here changes places with one that was looked at
    if (!prune_one(open_[i])) return false;
  }
  return true;
}

// What the states of the variable at place `at` of f add to its entries.
void CostNetwork::set_terms(int f, std::size_t at, std::uint64_t mask) {
  const Place& place = places_[functions_[f].first_place + static_cast<int>(at)];
  const int v = place.variable;
  const bool adds = (mask >> at & 1U) != 0;
  std::vector<Term>& terms = terms_[at];
  terms.resize(static_cast<std::size_t>(size_[v]));
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const int s = live_[first_state_[v] + static_cast<int>(i)];
    terms[i] = {place.stride * static_cast<std::size_t>(s),
                (adds ? unary_[first_state_[v] + s] : 0) - shifts_[place.shift + static_cast<std::size_t>(s)]};
  }
}

Cost CostNetwork::least_of(const Cost* table, std::size_t depth) const {
  Cost least = kTop;
  const std::vector<Term>& terms = terms_[loops_[depth]];
  if (depth + 1 == loops_.size()) {
    for (const Term& term : terms) least = std::min(least, table[term.offset] + term.cost);
    return least;
  }
  for (const Term& term : terms) least = std::min(least, term.cost + least_of(table + term.offset, depth + 1));
  return least;
}

// By the terms of all places.
void CostNetwork::scan(const Cost* table, int place, std::span<Cost> least) {
  loops_.clear();
  Cost fixed = 0;
  std::int64_t steps = static_cast<std::int64_t>(least.size());
  for (int i = 0; i < static_cast<int>(num_places_); ++i) {
    if (i == place) continue;
    if (terms_[i].size() == 1) {
      table += terms_[i].front().offset;
      fixed += terms_[i].front().cost;
      continue;
    }
    loops_.push_back(i);
    steps *= static_cast<std::int64_t>(terms_[i].size());
  }
  num_steps_ += steps;
  for (std::size_t i = 0; i < least.size(); ++i) {
    const Term& term = terms_[place][i];
    const Cost* const entry = table + term.offset;
    least[i] = term.cost + fixed + (loops_.empty() ? *entry : least_of(entry, 0));
  }
}

void CostNetwork::least(int f, int place, std::uint64_t mask, std::span<Cost> least) {
  num_places_ = static_cast<std::size_t>(functions_[f].num_places);
  for (std::size_t i = 0; i < num_places_; ++i) set_terms(f, i, i == static_cast<std::size_t>(place) ? 0 : mask);
  scan(functions_[f].table, place, least);
}

bool CostNetwork::project(int f, int place) { return extend_and_project(f, place, 0); }

bool CostNetwork::extend_and_project(int f, int place, std::uint64_t mask) {
  const Place& at = places_[functions_[f].first_place + place];
  const int v = at.variable;
  const auto count = static_cast<std::size_t>(size_[v]);
  least(f, place, mask, {gains_.data(), count});
  if (std::all_of(gains_.begin(), gains_.begin() + static_cast<std::ptrdiff_t>(count),
                  [](Cost gain) { return gain == 0; }))
    return true;
  const Cost room = top_ - bottom_;
  std::size_t num_left = count;
  for (std::size_t i = count; i-- > 0;) {  // the last state takes the place of one that is removed
    const int s = live_[first_state_[v] + static_cast<int>(i)];
    if (gains_[i] < room - unary(v, s)) continue;
    if (!remove(v, s)) return false;
    gains_[i] = gains_[--num_left];
  }
  const std::span<Cost> gains(gains_.data(), num_left);
  if (mask != 0) extend_for(f, place, mask, gains);
  bool is_raised = false;
  for (std::size_t i = 0; i < num_left; ++i) {
    if (gains[i] == 0) continue;
    const int s = live_[first_state_[v] + static_cast<int>(i)];
    Cost& cost = unary_[first_state_[v] + s];
    Cost& shift = shifts_[at.shift + static_cast<std::size_t>(s)];
    set(shift, shift + gains[i]);
    set(cost, cost + gains[i]);
    is_raised = true;
  }
  if (is_raised) note(v, kRaised);
  return lift(v);
}

// What each of the others has to give, so that no entry falls below what is taken: one after the other, each as much as
// those after it cannot give.
void CostNetwork::extend_for(int f, int place, std::uint64_t mask, std::span<const Cost> gains) {
  set_terms(f, static_cast<std::size_t>(place), 0);
  for (std::size_t i = 0; i < gains.size(); ++i) terms_[place][i].cost -= gains[i];
  for (int i = 0; i < static_cast<int>(num_places_); ++i) {
    if ((mask >> i & 1U) == 0 || i == place) continue;
    const int u = places_[functions_[f].first_place + i].variable;
    const std::span<Cost> amounts(amounts_.data(), static_cast<std::size_t>(size_[u]));
    set_terms(f, static_cast<std::size_t>(i), 0);
    scan(functions_[f].table, i, amounts);
    for (Cost& amount : amounts) amount = std::max<Cost>(0, -amount);
    extend(f, i, amounts);
    set_terms(f, static_cast<std::size_t>(i), 0);
  }
}

void CostNetwork::extend(int f, int place, std::span<const Cost> amounts) {
  const Place& at = places_[functions_[f].first_place + place];
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    if (amounts[i] <= 0) continue;
    const int s = live_[first_state_[at.variable] + static_cast<int>(i)];
    Cost& cost = unary_[first_state_[at.variable] + s];
    Cost& shift = shifts_[at.shift + static_cast<std::size_t>(s)];
    set(cost, cost - amounts[i]);
    set(shift, shift - amounts[i]);
  }
}

}  // namespace treesample
