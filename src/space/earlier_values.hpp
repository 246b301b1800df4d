// What a run is told before it asks: the values that its model's queue knows already, from a journal, from an import,
// from other methods and other runs. Every value teaches.
//
// A run that was interrupted is taken up by asking everything again; what it has paid for is then answered at once, and
// nothing else may differ. So the queue remembers, by the run's name, which values the run was told and when (Lesson in
// model/evaluation_queue.hpp). A run that is new is told all values before it asks for anything. One that is taken up
// is told the same at the same points; as soon as it has paid for a value that was not known, everything that others
// have added meanwhile is told, too.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "treesample/model/evaluation_queue.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

class EarlierValues {
 public:
  // Keeps a reference to the graph.
  EarlierValues(const FactorGraph& graph, std::string run);

  // To be told before the configuration `num_asked` (from 0) is asked for. Each value is due once, and those that were
  // asked for are not due.
  std::vector<KnownValue> due(std::int64_t num_asked);
  void note_asked(std::span<const int> x);
  // The answer to what was asked has come: factors and values.
  void note_answered(std::span<const int> x, std::span<const std::pair<int, double>> values);

  // Whether values of all functions at x were due: then it was evaluated before.
  [[nodiscard]] bool has_told(std::span<const int> x) const;
  [[nodiscard]] std::int64_t num_due_so_far() const { return num_due_; }

 private:
  [[nodiscard]] static std::string key(std::span<const int> states) {
    return {reinterpret_cast<const char*>(states.data()), states.size_bytes()};
  }
  [[nodiscard]] std::vector<int> states_of(int factor, std::span<const int> x) const;
  void begin();
  void take(std::int64_t last_number, std::vector<KnownValue>& due);

  const FactorGraph* graph_;
  std::string run_;
  std::vector<KnownValue> values_;                                                 // by number
  std::vector<bool> is_over_, is_told_;                                            // was due, or asked for; was due
  std::vector<std::unordered_map<std::string, std::vector<std::size_t>>> places_;  // in values_, by factor and states
  std::vector<Lesson> lessons_;
  std::size_t next_lesson_ = 0;
  std::int64_t num_due_ = 0, num_left_ = 0;
  bool has_begun_ = false, is_rest_due_ = false;
};

}  // namespace treesample
