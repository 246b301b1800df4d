// In the place of src/remote and of src/oracle/redis_*.cpp, where the library is built without Redis.
#include "treesample/remote/redis_options.hpp"

namespace treesample {

void RedisOptions::validate() const {}
bool has_redis_tls() { return false; }

}  // namespace treesample
