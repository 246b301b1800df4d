#include "remote/message_seal.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "treesample/error.hpp"
#include "treesample/io/file.hpp"

namespace treesample {
namespace {

constexpr std::size_t kLeastKeyBytes = 16;
constexpr std::int64_t kMostKeyBytes = 1 << 16;
constexpr const char* kKeyVariable = "TREESAMPLE_KEY";
constexpr std::string_view kPublicKey = "treesample: no secret";

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

void check_permissions(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    throw Error(ErrorCode::kIo,
                fmt::format("{}: the key cannot be read: {}", path, std::generic_category().message(errno)));
  }
  check_argument(S_ISREG(status.st_mode), path, "a key file must be a regular file");
  check_argument((status.st_mode & 077U) == 0, path,
                 fmt::format("the key file has the permissions {:03o}: others can read or change it, allowed are 600 "
                             "and 400 (chmod 600)",
                             status.st_mode & 0777U));
}

std::string checked_key(const std::string& source, std::string key) {
  check_argument(key.size() >= kLeastKeyBytes, source,
                 fmt::format("the key has {} bytes, at least {} are needed", key.size(), kLeastKeyBytes));
  return key;
}

}  // namespace

std::string run_secret(const RedisOptions& options, const std::string& password) {
  if (!options.key_file.empty()) {
    check_permissions(options.key_file);
    return checked_key(options.key_file, trimmed(read_file(options.key_file, kMostKeyBytes)));
  }
  // The only environment variable of the library: batch systems pass secrets in this way. It is read before threads
  // start.
  if (const char* const variable = std::getenv(kKeyVariable); variable != nullptr && *variable != '\0') {
    return checked_key(kKeyVariable, variable);
  }
  return password;
}

std::string MessageSeal::code(std::string_view kind, std::string_view payload) const {
  const std::string_view key = secret_.empty() ? kPublicKey : std::string_view(secret_);
  std::string text = fmt::format("treesample 1 {} {}", kind, run_);
  text.push_back('\0');
  text.append(payload);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  const unsigned char* const done =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
           text.size(), digest.data(), &length);
  if (done == nullptr || length != kBytes) throw Error(ErrorCode::kInternal, "HMAC-SHA256 is not available");
  return {reinterpret_cast<const char*>(digest.data()), kBytes};
}

std::string MessageSeal::seal(std::string_view kind, std::string_view payload) const {
  return std::string(payload) + code(kind, payload);
}

std::string_view MessageSeal::open(std::string_view kind, std::string_view sealed) const {
  if (sealed.size() >= kBytes) {
    const std::string_view payload = sealed.substr(0, sealed.size() - kBytes);
    if (CRYPTO_memcmp(sealed.data() + payload.size(), code(kind, payload).data(), kBytes) == 0) return payload;
  }
  throw Error(ErrorCode::kParse, secret_.empty()
                                     ? "the seal does not agree: damaged, or made with a key where this side has none"
                                     : "the seal does not agree: damaged, forged, or made with another key");
}

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    throw Error(ErrorCode::kInternal, "the system has no randomness");
  }
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace treesample
