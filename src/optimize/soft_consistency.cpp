#include "optimize/soft_consistency.hpp"

#include <algorithm>

namespace treesample {

SoftConsistency::SoftConsistency(CostNetwork& network, std::span<const int> line)
    : network_(network), line_(line.begin(), line.end()), place_(line.size()) {
  std::size_t most_states = 1;
  for (std::size_t i = 0; i < line.size(); ++i) place_[line[i]] = static_cast<int>(i);
  for (int v = 0; v < network.num_variables(); ++v)
    most_states = std::max(most_states, static_cast<std::size_t>(network.size(v)));
  for (Queue* const queue : {&arc_, &direct_, &exist_}) queue->resize(line.size());
  sums_.resize(most_states);
  least_.resize(most_states);
  given_in_.assign(line.size(), 0);
}

bool SoftConsistency::propagate_all(StopCheck& stop) {
  for (int v = 0; v < network_.num_variables(); ++v) {
    if (!network_.lift(v)) return false;
  }
  for (int i = 0; i < static_cast<int>(line_.size()); ++i) {
    arc_.push(i);
    direct_.push(i);
    exist_.push(static_cast<int>(line_.size()) - 1 - i);
  }
  return propagate(stop);
}

bool SoftConsistency::propagate(StopCheck& stop) {
  function_ = -1;
  if (work(stop)) return true;
  arc_.clear();
  direct_.clear();
  exist_.clear();
  network_.clear_changes();
  return false;
}

bool SoftConsistency::work(StopCheck& stop) {
  const int last = static_cast<int>(line_.size()) - 1;
  Cost pruned_at = -1;
  std::int64_t steps = network_.num_steps();
  while (true) {
    if (!take_changes()) return false;
    if (network_.bottom() != pruned_at) {
      pruned_at = network_.bottom();
      if (!network_.prune() || !take_changes()) return false;
    }
    if (stop.is_asked(network_.num_steps() - steps + 10)) return true;
    steps = network_.num_steps();
    if (!arc_.empty()) {
      if (!project_from(line_[arc_.pop()])) return false;
    } else if (!exist_.empty()) {
      if (!exist(line_[last - exist_.pop()])) return false;
    } else if (!direct_.empty()) {
      if (!direct(line_[direct_.pop()])) return false;
    } else {
      return true;
    }
  }
}

// Which variables have to be looked at again.
bool SoftConsistency::take_changes(bool is_given_back) {
  const int last = static_cast<int>(line_.size()) - 1;
  while (!network_.changed().empty()) {
    changed_.assign(network_.changed().begin(), network_.changed().end());
    kinds_.clear();
    for (const int v : changed_) kinds_.push_back(network_.changes(v));
    network_.clear_changes();
    for (std::size_t i = 0; i < changed_.size(); ++i) {
      const int v = changed_[i];
      if ((kinds_[i] & CostNetwork::kRemoved) != 0) {
        arc_.push(place_[v]);
        if (!network_.lift(v)) return false;
      }
      if (!is_given_back || (kinds_[i] & CostNetwork::kRemoved) != 0) direct_.push(place_[v]);
      exist_.push(last - place_[v]);
      for (const CostNetwork::Use& use : network_.uses(v)) {
        for (const CostNetwork::Place& place : network_.places(use.function)) {
          const int u = place.variable;
          if (place_[u] > place_[v] && network_.size(u) > 1) exist_.push(last - place_[u]);
        }
      }
    }
  }
  return true;
}

// States of v are gone: others may have lost their entries of cost 0.
bool SoftConsistency::project_from(int v) {
  for (const CostNetwork::Use& use : network_.uses(v)) {
    const std::span<const CostNetwork::Place> places = network_.places(use.function);
    bool is_fixed = true;
    function_ = use.function;
    for (int i = 0; i < static_cast<int>(places.size()); ++i) {
      if (i == use.place || network_.size(places[i].variable) == 1) continue;
      is_fixed = false;
      if (!network_.project(use.function, i)) return false;
    }
    if (is_fixed && !network_.project(use.function, use.place)) return false;
  }
  return true;
}

bool SoftConsistency::project_others(int f, int target, std::uint64_t mask) {
  const auto num_places = static_cast<int>(network_.places(f).size());
  if (num_places < 3) return true;  // of two variables nothing is left
  for (int i = 0; i < num_places; ++i) {
    if (i != target && (mask >> i & 1U) != 0 && !network_.project(f, i)) return false;
  }
  return true;
}

// The unary costs of v, and of the others, are of use to the first variable of each of its functions.
bool SoftConsistency::direct(int v) {
  for (const CostNetwork::Use& use : network_.uses(v)) {
    const std::span<const CostNetwork::Place> places = network_.places(use.function);
    int first = use.place;
    std::uint64_t mask = 0;
    for (int i = 0; i < static_cast<int>(places.size()); ++i) {
      if (network_.size(places[i].variable) == 1) continue;
      mask |= std::uint64_t{1} << i;
      if (place_[places[i].variable] < place_[places[first].variable]) first = i;
    }
    if (first == use.place) continue;
    mask &= ~(std::uint64_t{1} << first);
    function_ = use.function;
    if (!network_.extend_and_project(use.function, first, mask) || !take_changes()) return false;
    // What the function gives back to the others would come here again, and so on without end.
    if (!project_others(use.function, first, mask) || !take_changes(/*is_given_back=*/true)) return false;
  }
  return true;
}

// Is there a state of v that costs nothing, with all that the variables before v can give?
bool SoftConsistency::exist(int v) {
  const auto count = static_cast<std::size_t>(network_.size(v));
  if (count == 1) return true;
  for (std::size_t i = 0; i < count; ++i) sums_[i] = network_.unary(v, network_.states(v)[i]);
  givers_.clear();
  ++round_;
  for (const CostNetwork::Use& use : network_.uses(v)) {
    const std::span<const CostNetwork::Place> places = network_.places(use.function);
    std::uint64_t mask = 0;
    for (int i = 0; i < static_cast<int>(places.size()); ++i) {
      const int u = places[i].variable;
      if (place_[u] >= place_[v] || network_.size(u) == 1 || given_in_[u] == round_) continue;
      const std::span<const int> states = network_.states(u);
      if (std::any_of(states.begin(), states.end(), [&](int s) { return network_.unary(u, s) > 0; }))
        mask |= std::uint64_t{1} << i;
    }
    if (mask == 0) continue;
    network_.least(use.function, use.place, mask, {least_.data(), count});
    bool is_some = false;
    for (std::size_t i = 0; i < count; ++i) {
      sums_[i] = std::min(kTop, sums_[i] + least_[i]);
      is_some = is_some || least_[i] > 0;
    }
    if (!is_some) continue;
    givers_.push_back({use, mask});
    for (std::size_t i = 0; i < places.size(); ++i) {  // a variable can give its costs once
      if ((mask >> i & 1U) != 0) given_in_[places[i].variable] = round_;
    }
  }
  if (*std::min_element(sums_.begin(), sums_.begin() + static_cast<std::ptrdiff_t>(count)) < grain_) return true;
  for (const auto& [use, mask] : givers_) {
    function_ = use.function;
    if (!network_.extend_and_project(use.function, use.place, mask)) return false;
    if (!project_others(use.function, use.place, mask)) return false;
  }
  return true;
}

}  // namespace treesample
