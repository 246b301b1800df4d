// Tries again while something on the server is wrong.
#pragma once

#include <string>
#include <utility>

#include "remote/redis_client.hpp"
#include "stopwatch.hpp"

namespace treesample {

// Repeats work() until it succeeds or has failed (RedisTrouble) for as long as the patience lasts. tell() reports each
// new trouble. Before the next attempt prepare() waits a while and may repair something.
template <typename Work, typename Tell, typename Prepare>
auto try_patiently(double patience_seconds, const Work& work, const Tell& tell, const Prepare& prepare)
    -> decltype(work()) {
  const Stopwatch clock;
  std::string last;
  while (true) {
    try {
      return work();
    } catch (const RedisTrouble& trouble) {
      if (std::exchange(last, trouble.what()) != trouble.what()) tell(last);
      if (clock.seconds() > patience_seconds) throw;
    }
    prepare();
  }
}

}  // namespace treesample
