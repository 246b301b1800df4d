// In the place of src/nn/device/cuda_engine.cu, where the library is built without a CUDA compiler.
#include "nn/device/flat.hpp"
#include "treesample/error.hpp"

namespace treesample::nn {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorCode::kArgument, "device cuda: the library was built without CUDA (TREESAMPLE_CUDA)");
}

}  // namespace

std::unique_ptr<MlpEngine> make_cuda_engine(const MlpShape&) { refuse(); }
std::unique_ptr<GnnEngine> make_cuda_engine(const GnnShape&) { refuse(); }

}  // namespace treesample::nn
