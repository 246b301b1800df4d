// Replaces src/oracle/umbridge_oracle.cpp if the library is built without HTTP.
#include "oracle/umbridge_oracle.hpp"
#include "treesample/error.hpp"

namespace treesample {

OracleSource umbridge_source(const JsonModel& model, int program) {
  throw Error(ErrorCode::kArgument, model.source_name + ": programs." + model.programs[program].name +
                                        ".umbridge: the library was built without HTTP (TREESAMPLE_HTTP)");
}

}  // namespace treesample
