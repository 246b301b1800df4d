#include "exact/linear_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "model/dense_table.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/vector_math.hpp"

namespace treesample {

TableMemory::TableMemory(std::size_t num_entries) : size_(num_entries) {
  constexpr std::size_t kPage = std::size_t{1} << 21, kLine = 64;
  const std::size_t bytes = std::max<std::size_t>(num_entries, 1) * sizeof(double);
  const std::size_t alignment = bytes >= 2 * kPage ? kPage : kLine;
  void* const memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
#ifdef __linux__
  // Touching a new page costs as much as computing a hundred of its entries; a large page is one touch for 512.
  if (alignment == kPage) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  values_.reset(static_cast<double*>(memory));
}

void TableMemory::Free::operator()(double* values) const { std::free(values); }

void LinearTable::normalise() {
  if (largest == 0.0) return;
  const int by = -std::ilogb(largest) - 1;
  if (by == 0) return;
  const double scale = std::ldexp(1.0, by);  // entries are between 2^-800 and 2^200
  for (double& value : values.span()) value *= scale;
  largest *= scale;
  least *= scale;
  error.absolute *= scale;
  exponent -= by;
}

LinearTable linear_table(const FactorGraph& graph, const Factor& factor, std::span<const int> time) {
  LinearTable table;
  table.scope = factor.scope();
  std::sort(table.scope.begin(), table.scope.end(), [&](int a, int b) { return time[a] < time[b]; });
  table.values = TableMemory(factor.log_values().size());
  const double log_largest = *factor.log_max();
  const std::span<double> values = table.values.span();
  std::fill(values.begin(), values.end(), 0.0);
  if (log_largest == kNegInf) return table;
  BlockWalk walk(graph, table.scope);
  const int id = walk.add_table(factor.scope());
  do {
    walk.add(id, factor.log_values().data(), values.subspan(walk.first_entry(), walk.block_size()), log_largest);
  } while (walk.next());
  constexpr double kLeastLog = -550.0;  // above that of kTiny
  double least = 0.0;
  bool is_lossy = false;
  for (double& value : values) {
    if (value >= kLeastLog) {
      least = std::min(least, value);
    } else {
      is_lossy = is_lossy || value != kNegInf;
      value = kNegInf;
    }
  }
  table.error = LinearError::of_factor(log_largest, least);
  if (is_lossy) table.error.absolute = std::exp(kLeastLog);
  table.largest = 1.0;
  table.least = std::exp(least) * (1.0 - 1e-9);
  exp_each(values);  // what is -inf comes out at the end of its range
  for (double& value : values) value = value < LinearError::kTiny ? 0.0 : value;
  return table;
}

}  // namespace treesample
