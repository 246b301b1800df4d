// The kernels of the device on this processor, in one thread: the reference for tests.
#include "nn/device/engine-inl.hpp"

namespace treesample::nn {
namespace {

struct Host {
  template <typename T>
  class Array {
   public:
    void resize(std::size_t size) { values_.resize(size); }
    void assign(std::span<const T> values) { values_.assign(values.begin(), values.end()); }
    void read(std::span<T> to) const {
      std::copy(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(to.size()), to.begin());
    }
    [[nodiscard]] T* data() { return values_.data(); }

   private:
    std::vector<T> values_;
  };

  template <typename Body>
  static void for_each(std::size_t count, const Body& body) {
    for (std::size_t i = 0; i < count; ++i) body(i);
  }
};

}  // namespace

std::unique_ptr<MlpEngine> make_host_engine(const MlpShape& shape) {
  return std::make_unique<device::MlpOn<Host>>(shape);
}
std::unique_ptr<GnnEngine> make_host_engine(const GnnShape& shape) {
  return std::make_unique<device::GnnOn<Host>>(shape);
}

}  // namespace treesample::nn
