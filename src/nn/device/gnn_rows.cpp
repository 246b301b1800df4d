#include "nn/device/gnn_rows.hpp"

#include <algorithm>
#include <map>

#include "nn/gnn_cone.hpp"

namespace treesample::nn {
namespace {

constexpr int kNone = -1;

class RowsBuilder {
 public:
  RowsBuilder(const GnnOptions& options, std::span<const GnnSample> samples)
      : options_(options),
        samples_(samples),
        table_kind_(static_cast<int>(std::find(options.kinds.begin(), options.kinds.end(), kTableKind) -
                                     options.kinds.begin())) {}

  GnnRows build() {
    add_edge_classes();
    lay_out();
    for (int step = 0; step < num_steps(options_); ++step) {
      if (step % num_blocks(options_) == 0 || step % num_blocks(options_) == variable_block(options_)) end_group();
      for (std::size_t k = 0; k < samples_.size(); ++k) add_step(step, k);
    }
    end_group();
    rows_.input_begin.push_back(static_cast<int>(rows_.inputs.size()));
    const int last = step_of(options_, options_.iterations, variable_block(options_));
    for (std::size_t k = 0; k < samples_.size(); ++k) rows_.readout.push_back(start_[k][last]);
    turn_around();
    return std::move(rows_);
  }

 private:
  // Where the encodings of a plan begin: those of its edges, then those of its factors.
  struct PlanPlace {
    int edge_class = 0;  // of its first encoded edge, among all plans
    int edges = 0;       // first encoding
    int factors = 0;
  };

  void add_encodings(const std::vector<Encoding>& encodings) {
    for (const Encoding& encoding : encodings)
      rows_.encodings.insert(rows_.encodings.end(), encoding.begin(), encoding.end());
  }

  // A class of edges per kind, then one per encoded edge of each plan; a row per class, direction and state.
  void add_edge_classes() {
    std::vector<int> encoding_of_class(static_cast<std::size_t>(options_.num_kinds()), kNone);
    const auto num_encodings = [&] { return static_cast<int>(rows_.encodings.size()) / kEncoding; };
    for (const GnnSample& sample : samples_) {
      const PlanData& plan = sample.plan->data();
      const auto [found, is_new] = places_.try_emplace(&plan);
      if (!is_new) continue;
      found->second.edge_class = static_cast<int>(encoding_of_class.size());
      found->second.edges = num_encodings();
      for (std::size_t e = 0; e < plan.edge_encodings.size(); ++e)
        encoding_of_class.push_back(found->second.edges + static_cast<int>(e));
      add_encodings(plan.edge_encodings);
      found->second.factors = num_encodings();
      add_encodings(plan.factor_encodings);
    }
    rows_.group_begin.push_back(0);
    for (int c = 0; c < static_cast<int>(encoding_of_class.size()); ++c) {
      const int kind = c < options_.num_kinds() ? c : table_kind_;
      for (const Direction direction : {Direction::kToFactor, Direction::kToVariable}) {
        for (int state = -1; state < options_.num_states; ++state)
          add_row(edge_block(kind, direction), state, encoding_of_class[c]);
      }
    }
  }

  // Computes where the rows of each sample and step will be.
  void lay_out() {
    start_.assign(samples_.size(), std::vector<int>(static_cast<std::size_t>(num_steps(options_))));
    int position = rows_.num_rows();
    for (int step = 0; step < num_steps(options_); ++step) {
      for (std::size_t k = 0; k < samples_.size(); ++k) {
        start_[k][step] = position;
        position += cone_of(k).step_size[step];
      }
    }
  }

  void end_group() {
    if (rows_.group_begin.back() < rows_.num_rows()) rows_.group_begin.push_back(rows_.num_rows());
  }

  void add_step(int step, std::size_t k) {
    const Cone& cone = cone_of(k);
    const int block = step % num_blocks(options_);
    const int iteration = step / num_blocks(options_) + 1;
    for (int r = cone.step_begin[step]; r < cone.step_begin[step] + cone.step_size[step]; ++r) {
      if (is_node_block(options_, block)) {
        add_node(k, cone.node_rows[r], block, iteration);
      } else {
        add_edge(k, cone.edge_rows[r], block, iteration);
      }
    }
  }

  void add_edge(std::size_t k, const EdgeRow& row, int block, int iteration) {
    const PlanPlace& place = places_.at(&samples_[k].plan->data());
    const int edge_class = (row.table.table_row - 1) / (2 * (options_.num_states + 1));
    const bool is_encoded = edge_class >= options_.num_kinds();
    add_row(block, samples_[k].states[row.table.variable],
            is_encoded ? place.edges + edge_class - options_.num_kinds() : kNone);
    rows_.inputs.push_back(iteration == 2 ? first_edge(k, row.table) : place_of(k, row.edge));
    end_panel(0);
    rows_.inputs.push_back(place_of(k, row.variable));
    end_panel(1);
    rows_.inputs.push_back(place_of(k, row.factor));
  }

  void add_node(std::size_t k, const NodeRow& row, int block, int iteration) {
    const Cone& cone = cone_of(k);
    if (block == variable_block(options_)) {
      add_row(block, samples_[k].states[row.variable], kNone);
    } else {
      const int factors = places_.at(&samples_[k].plan->data()).factors;
      add_row(block, kNone,
              row.node_row >= options_.num_kinds() ? factors + row.node_row - options_.num_kinds() : kNone);
    }
    for (int i = row.in_begin; i < row.in_end; ++i)
      rows_.inputs.push_back(iteration == 1 ? first_edge(k, cone.first_edges[i]) : place_of(k, cone.in_edges[i]));
    end_panel(0);
    if (iteration > 1) rows_.inputs.push_back(place_of(k, row.self));
    end_panel(1);
  }

  // Begins a row. Inputs added after this belong to its first panel, until end_panel(0).
  void add_row(int block, int state, int encoding) {
    rows_.block.push_back(block);
    rows_.state.push_back(state);
    rows_.encoding.push_back(encoding);
    const auto end = static_cast<int>(rows_.inputs.size());
    rows_.input_begin.insert(rows_.input_begin.end(), kMostPanels, end);
  }
  void end_panel(int panel) {
    for (std::size_t p = rows_.input_begin.size() - kMostPanels + static_cast<std::size_t>(panel) + 1;
         p < rows_.input_begin.size(); ++p)
      rows_.input_begin[p] = static_cast<int>(rows_.inputs.size());
  }

  // The row of an edge after iteration 1.
  int first_edge(std::size_t k, const TableRef& ref) const {
    const int per_class = 2 * (options_.num_states + 1);
    const int edge_class = (ref.table_row - 1) / per_class;
    const int shift =
        edge_class < options_.num_kinds() ? 0 : places_.at(&samples_[k].plan->data()).edge_class - options_.num_kinds();
    return ref.table_row + shift * per_class + samples_[k].states[ref.variable];
  }

  int place_of(std::size_t k, const RowRef& ref) const { return start_[k][ref.step] + ref.index; }
  const Cone& cone_of(std::size_t k) const { return samples_[k].plan->data().cones[samples_[k].variable]; }

  void turn_around() {
    Readers readers = invert_lists(rows_.input_begin, rows_.inputs, rows_.num_rows());
    rows_.reader_begin = std::move(readers.begin);
    rows_.readers = std::move(readers.readers);
    std::vector<int> one_each(rows_.block.size() + 1);
    for (std::size_t r = 0; r < one_each.size(); ++r) one_each[r] = static_cast<int>(r);
    Readers of_blocks = invert_lists(one_each, rows_.block, num_blocks(options_));
    rows_.block_begin = std::move(of_blocks.begin);
    rows_.block_rows = std::move(of_blocks.readers);
  }

  const GnnOptions& options_;
  const std::span<const GnnSample> samples_;
  const int table_kind_;
  std::map<const PlanData*, PlanPlace> places_;
  std::vector<std::vector<int>> start_;  // per sample and step
  GnnRows rows_;
};

}  // namespace

GnnRows make_gnn_rows(const GnnOptions& options, std::span<const GnnSample> samples) {
  return RowsBuilder(options, samples).build();
}

Readers invert_lists(std::span<const int> begin, std::span<const int> entries, int num_values) {
  Readers result;
  result.begin.assign(static_cast<std::size_t>(num_values) + 1, 0);
  for (const int value : entries) ++result.begin[static_cast<std::size_t>(value) + 1];
  for (std::size_t v = 1; v < result.begin.size(); ++v) result.begin[v] += result.begin[v - 1];
  std::vector<int> next(result.begin.begin(), result.begin.end() - 1);
  result.readers.resize(entries.size());
  for (std::size_t list = 0; list + 1 < begin.size(); ++list) {
    for (int i = begin[list]; i < begin[list + 1]; ++i) result.readers[next[entries[i]]++] = static_cast<int>(list);
  }
  return result;
}

}  // namespace treesample::nn
