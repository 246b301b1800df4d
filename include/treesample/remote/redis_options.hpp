// How to reach a Redis server that connects processes on several machines, and how its messages are protected.
#pragma once

#include <functional>
#include <string>

namespace treesample {

struct RedisOptions {
  // redis://[user[:password]@]host[:port], the same with rediss:// for TLS, host[:port], or unix:PATH. User
  // and password may contain %xx.
  std::string address = "redis://127.0.0.1:6379";
  std::string password_file = {};  // a file whose first line is the password, instead of one in the address
  // The secret with which messages are sealed: 16 bytes or more in a file that only its owner may read. Without it the
  // environment variable TREESAMPLE_KEY is used, then the password. All sides need the same secret.
  std::string key_file = {};
  bool allow_no_secret = false;    // allows a server on another machine without password and key
  std::string tls_ca_file = {};    // trusted certificates; if empty, those of the system
  std::string tls_cert_file = {};  // certificate of the client, if the server asks for one
  std::string tls_key_file = {};
  std::string run = "default";
  // How long to wait for a server that does not answer, or for a run that has no learner or coordinator.
  double patience_seconds = 600.0;

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

// True if this library was built with a hiredis that offers TLS.
bool has_redis_tls();

struct RunCallbacks {
  // Asked a few times a second, also during waits; returning false ends the run, which can be resumed.
  std::function<bool()> keep_going = {};
  // Called now and then with one line about what the process is waiting for, or what was refused or repaired.
  std::function<void(const std::string&)> remark = {};
};

}  // namespace treesample
