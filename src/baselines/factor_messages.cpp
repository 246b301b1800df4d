#include "baselines/factor_messages.hpp"

#include <algorithm>

#include "treesample/math/log_domain.hpp"
#include "treesample/math/vector_math.hpp"

namespace treesample {
namespace {

// Entries whose exponentials are computed at a time: few enough to stay in the first-level cache.
constexpr std::size_t kBlock = 2048;

// The shift of a log-sum-exp. With shift 0, a row of -inf stays -inf instead of becoming NaN.
double shift_of(double largest) { return largest == kNegInf ? 0.0 : largest; }

// sums[i] = log(sums[i]) + largest[i]. If the maximum is -inf, so is the result: exp_each has turned each -inf into a
// tiny positive number, whose logarithm is finite.
void finish(std::span<double> sums, std::span<const double> largest) {
  log_each(sums);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += largest[i];
}

// out[r] = log sum_c exp(table[r, c] + message[c]).
void sum_out_columns(const double* table, std::span<const double> message, std::vector<double>& out,
                     std::vector<double>& terms, std::vector<double>& largest) {
  const std::size_t rows = out.size();
  const std::size_t columns = message.size();
  const std::size_t rows_at_once = std::max<std::size_t>(kBlock / std::max<std::size_t>(columns, 1), 1);
  largest.resize(rows);
  for (std::size_t begin = 0; begin < rows; begin += rows_at_once) {
    const std::size_t end = std::min(rows, begin + rows_at_once);
    terms.resize((end - begin) * columns);
    double* term = terms.data();
    const double* entry = table + begin * columns;
    for (std::size_t r = begin; r < end; ++r, term += columns, entry += columns) {
      double maximum = kNegInf;
      for (std::size_t c = 0; c < columns; ++c) {
        term[c] = entry[c] + message[c];
        maximum = std::max(maximum, term[c]);
      }
      largest[r] = maximum;
      const double shift = shift_of(maximum);
      for (std::size_t c = 0; c < columns; ++c) term[c] -= shift;
    }
    exp_each(terms);
    term = terms.data();
    for (std::size_t r = begin; r < end; ++r, term += columns) {
      double sum = 0.0;
      for (std::size_t c = 0; c < columns; ++c) sum += term[c];
      out[r] = sum;
    }
  }
  finish(out, largest);
}

// out[c] = log sum_r exp(table[r, c] + message[r]).
void sum_out_rows(const double* table, std::span<const double> message, std::vector<double>& out,
                  std::vector<double>& terms, std::vector<double>& largest) {
  const std::size_t rows = message.size();
  const std::size_t columns = out.size();
  largest.assign(columns, kNegInf);
  const double* entry = table;
  for (std::size_t r = 0; r < rows; ++r, entry += columns) {
    for (std::size_t c = 0; c < columns; ++c) largest[c] = std::max(largest[c], entry[c] + message[r]);
  }
  std::fill(out.begin(), out.end(), 0.0);
  const std::size_t rows_at_once = std::max<std::size_t>(kBlock / std::max<std::size_t>(columns, 1), 1);
  entry = table;
  for (std::size_t begin = 0; begin < rows; begin += rows_at_once) {
    const std::size_t end = std::min(rows, begin + rows_at_once);
    terms.resize((end - begin) * columns);
    double* term = terms.data();
    for (std::size_t r = begin; r < end; ++r, term += columns, entry += columns) {
      for (std::size_t c = 0; c < columns; ++c) term[c] = entry[c] + message[r] - shift_of(largest[c]);
    }
    exp_each(terms);
    term = terms.data();
    for (std::size_t r = begin; r < end; ++r, term += columns) {
      for (std::size_t c = 0; c < columns; ++c) out[c] += term[c];
    }
  }
  finish(out, largest);
}

// Outer sum of the messages of several variables, over their configurations, the last variable fastest.
void combine(std::span<const int> dims, std::span<const double* const> messages, std::vector<double>& out) {
  std::size_t size = 1;
  for (const int dim : dims) size *= dim;
  out.resize(size);
  out[size - 1] = 0.0;
  // Built from the last variable to the first. The result so far is at the end of the buffer and is copied from there.
  std::size_t inner = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    const double* const grown = out.data() + size - inner;
    const std::size_t begin = size - inner * dims[i];
    for (int a = 0; a < dims[i]; ++a) {
      double* const target = out.data() + begin + a * inner;
      for (std::size_t j = 0; j < inner; ++j) target[j] = grown[j] + messages[i][a];
    }
    inner *= dims[i];
  }
}

}  // namespace

void FactorMessages::compute(std::span<const double> table, std::span<const int> dims,
                             std::span<const double* const> incoming, std::span<double* const> outgoing) {
  dims_ = dims;
  incoming_ = incoming;
  outgoing_ = outgoing;
  if (workspaces_.size() <= dims.size()) workspaces_.resize(dims.size() + 1);
  halve(table.data(), 0, dims.size(), 0);
}

// Pre: `table` is over the variables first..last-1 of the scope, with all others summed out.
void FactorMessages::halve(const double* table, std::size_t first, std::size_t last, std::size_t depth) {
  if (last - first == 1) {
    std::copy_n(table, dims_[first], outgoing_[first]);
    return;
  }
  const std::size_t middle = (first + last) / 2;
  std::size_t rows = 1;
  for (std::size_t i = first; i < middle; ++i) rows *= dims_[i];
  Workspace& workspace = workspaces_[depth];
  combine(dims_.subspan(middle, last - middle), incoming_.subspan(middle, last - middle), workspace.messages);
  const std::size_t columns = workspace.messages.size();
  workspace.rest.resize(rows);
  sum_out_columns(table, workspace.messages, workspace.rest, terms_, largest_);
  halve(workspace.rest.data(), first, middle, depth + 1);

  combine(dims_.subspan(first, middle - first), incoming_.subspan(first, middle - first), workspace.messages);
  workspace.rest.resize(columns);
  sum_out_rows(table, workspace.messages, workspace.rest, terms_, largest_);
  halve(workspace.rest.data(), middle, last, depth + 1);
}

}  // namespace treesample
