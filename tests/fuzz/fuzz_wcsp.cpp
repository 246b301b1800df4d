#include <cstddef>
#include <cstdint>

#include "input_checks.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  treesample::testing::check_wcsp_input({reinterpret_cast<const char*>(data), size});
  return 0;
}
