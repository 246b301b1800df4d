// Makes sure that a run has only one learner or coordinator. The lease is a key that names the owner of the run. It
// expires unless it is renewed, and is changed only by a script that first compares its value.
//
// A second process watches the lease. If the lease is renewed, the owner is alive, and the second process is refused.
// If it expires, which takes kLeaseSeconds, the second process takes over. An owner that was killed on the same machine
// is known to be dead and is replaced at once. An owner that was suspended for longer than its lease and finds that
// another process has the run ends with an error and writes nothing more.
#pragma once

#include <string>

#include "remote/redis_client.hpp"
#include "stopwatch.hpp"

namespace treesample {

inline constexpr double kLeaseSeconds = 10.0;
inline constexpr double kRenewalSeconds = 1.0;

class RunLease {
 public:
  // Waits for the run as described above. `role` says what this process is: "learner". Throws kIo naming run, owner and
  // expiry if another process has it.
  RunLease(RedisClient& client, std::string key, std::string run, const std::string& role);
  ~RunLease() { release(); }
  RunLease(const RunLease&) = delete;
  RunLease& operator=(const RunLease&) = delete;

  // Renews the lease if it is due, or at once with `now`. Returns false if the lease had been lost in the meantime and
  // was taken again: the server may have lost everything else too. Throws kIo if another process has the run.
  bool renew(bool now = false);
  // Releases the run, if it is held and the server can be reached.
  void release() noexcept;

 private:
  struct Answer {
    bool is_taken = false;    // true if we had no lease and have one now
    std::string holder;       // empty if we have it
    double expires_in = 0.0;  // seconds that the holder's lease has left
  };
  Answer ask(const std::string& replaceable);
  [[noreturn]] void refuse(const Answer& answer, const char* what) const;

  RedisClient& client_;
  std::string key_;
  std::string run_;
  std::string value_;
  Clock::time_point renewed_;
};

}  // namespace treesample
