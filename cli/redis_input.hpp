// The options of a Redis server, shared by `train`, `infer` and `worker`.
#pragma once

#include <string>

#include "command.hpp"
#include "treesample/train/distributed.hpp"

namespace treesample::cli {

class RedisInput {
 public:
  void declare(CommandLine& line) {
    line.option("--redis", options_.address, "ADDRESS",
                "Redis server: redis://[user[:password]@]host[:port], rediss://... for TLS, or unix:PATH");
    line.option("--run", options_.run, "NAME", "Name of the run on the server");
    line.option("--password-file", options_.password_file, "FILE", "File whose first line is the password");
    line.option("--key-file", options_.key_file, "FILE",
                "File with the secret that seals messages; default: $TREESAMPLE_KEY, then the password");
    line.flag("--insecure", options_.allow_no_secret, "Allow a server elsewhere with neither password nor key");
    line.option("--tls-ca", options_.tls_ca_file, "FILE", "Certificates to trust; default are the system's");
    line.option("--tls-cert", options_.tls_cert_file, "FILE", "Certificate of this client");
    line.option("--tls-key", options_.tls_key_file, "FILE", "Key of this client's certificate");
    line.option("--patience", options_.patience_seconds, 0.0, 1e9, "Seconds to wait for a server that does not answer");
  }
  [[nodiscard]] const RedisOptions& options() const { return options_; }

 private:
  RedisOptions options_;
};

}  // namespace treesample::cli
