#include "exact/linear_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>
#include <utility>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "model/dense_table.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/vector_math.hpp"

namespace treesample {

namespace {

constexpr std::size_t kPage = std::size_t{1} << 21, kLine = 64;

// Small tables, of which there may be many, take what the heap gives at once.
double* allocated(std::size_t bytes, std::size_t alignment) {
  constexpr std::size_t kSmall = 16 * kLine;
  void* const memory = bytes <= kSmall ? std::malloc(bytes) : std::aligned_alloc(alignment, bytes);
  if (memory == nullptr) throw std::bad_alloc();
#ifdef __linux__
  if (alignment == kPage) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return static_cast<double*>(memory);
}

}  // namespace

TablePool::Block TablePool::take(std::size_t bytes) {
  const std::size_t unit = bytes >= kPage ? kPage : kLeastBytes;
  bytes = (bytes + unit - 1) / unit * unit;
  const auto fits = std::lower_bound(waiting_.begin(), waiting_.end(), bytes,
                                     [](const Block& block, std::size_t wanted) { return block.bytes < wanted; });
  // A block that is much too large would take memory from other tables.
  if (fits != waiting_.end() && fits->bytes <= bytes + bytes / 2) {
    const Block block = *fits;
    waiting_.erase(fits);
    waiting_bytes_ -= static_cast<double>(block.bytes);
    used_bytes_ += static_cast<double>(block.bytes);
    return block;
  }
  release_down_to(std::max(0.0, most_bytes_ - used_bytes_ - static_cast<double>(bytes)));
  const Block block{allocated(bytes, bytes >= kPage ? kPage : kLine), bytes};
  used_bytes_ += static_cast<double>(bytes);
  return block;
}

void TablePool::give_back(const Block& block) {
  used_bytes_ -= static_cast<double>(block.bytes);
  waiting_bytes_ += static_cast<double>(block.bytes);
  waiting_.insert(std::upper_bound(waiting_.begin(), waiting_.end(), block,
                                   [](const Block& a, const Block& b) { return a.bytes < b.bytes; }),
                  block);
  release_down_to(std::max(0.0, most_bytes_ - used_bytes_));
}

void TablePool::release_down_to(double bytes) {
  while (!waiting_.empty() && waiting_bytes_ > bytes) {
    waiting_bytes_ -= static_cast<double>(waiting_.back().bytes);
    std::free(waiting_.back().values);
    waiting_.pop_back();
  }
}

TableMemory::TableMemory(std::size_t num_entries, const std::shared_ptr<TablePool>& pool) : size_(num_entries) {
  const std::size_t bytes = std::max<std::size_t>(num_entries, 1) * sizeof(double);
  if (bytes >= TablePool::kLeastBytes && pool) {
    block_ = pool->take(bytes);
    pool_ = pool;
  } else {
    block_ = {allocated((bytes + kLine - 1) / kLine * kLine, kLine), bytes};
  }
}

TableMemory::~TableMemory() {
  if (pool_) {
    pool_->give_back(block_);
  } else {
    std::free(block_.values);
  }
}

void TableMemory::swap(TableMemory& other) noexcept {
  std::swap(block_, other.block_);
  std::swap(size_, other.size_);
  std::swap(pool_, other.pool_);
}

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
  table.values = TableMemory(factor.log_values().size(), nullptr);
  const double log_largest = *factor.log_max();
  const std::span<double> values = table.values.span();
  std::fill(values.begin(), values.end(), 0.0);
  if (log_largest == kNegInf) return table;
  if (table.scope == factor.scope()) {
    std::transform(factor.log_values().begin(), factor.log_values().end(), values.begin(),
                   [&](double value) { return value - log_largest; });
  } else {
    BlockWalk walk(graph, table.scope);
    const int id = walk.add_table(factor.scope());
    do {
      walk.add(id, factor.log_values().data(), values.subspan(walk.first_entry(), walk.block_size()), log_largest);
    } while (walk.next());
  }
  constexpr double kLeastLog = -550.0;  // a little above log kTiny
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
  exp_each(values);  // -inf becomes a tiny number, which the next line sets to 0
  for (double& value : values) value = value < LinearError::kTiny ? 0.0 : value;
  return table;
}

}  // namespace treesample
