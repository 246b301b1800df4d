#include "oracle/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>
#include <thread>
#include <utility>

#include "treesample/error.hpp"

namespace treesample {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

[[noreturn]] void throw_system(std::string_view what) {
  throw Error(ErrorCode::kIo, fmt::format("{}: {}", what, std::generic_category().message(errno)));
}

struct Pipe {
  Descriptor read, write;
};

// Both ends are above 2: in the child they are copied to 0 and 1, and a copy onto itself would leave
// the close-on-exec flag set.
Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_system("no pipe for a program");
  Pipe pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  for (Descriptor* end : {&pipe.read, &pipe.write}) {
    if (end->get() > 2) continue;
    *end = Descriptor(::fcntl(end->get(), F_DUPFD_CLOEXEC, 3));
    if (end->get() < 0) throw_system("no pipe for a program");
  }
  return pipe;
}

constexpr std::size_t kShownBytes = 300;  // shown from the end of a log

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

Descriptor open_log(const fs::path& log) {
  Descriptor file(::open(log.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (file.get() < 0) throw_system(fmt::format("{}: the log cannot be written", log.string()));
  if (file.get() <= 2) file = Descriptor(::fcntl(file.get(), F_DUPFD_CLOEXEC, 3));
  return file;
}

// Everything between fork and exec, where only async-signal-safe calls are allowed.
struct ChildSetup {
  pid_t parent;
  const char* folder;
  const char* executable;
  char* const* arguments;
  int input, output, log;
  int failure;  // receives errno if exec fails
};

[[noreturn]] void run_child(const ChildSetup& setup) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != setup.parent) ::_exit(127);  // the parent died before the line above
  rlimit memory{};                                // --memory of this process is not that of a program
  if (::getrlimit(RLIMIT_DATA, &memory) == 0) {
    memory.rlim_cur = memory.rlim_max;
    ::setrlimit(RLIMIT_DATA, &memory);
  }
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGCHLD, SIGXFSZ}) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::dup2(setup.input, 0) >= 0 && ::dup2(setup.output, 1) >= 0 && ::dup2(setup.log, 2) >= 0 &&
      ::chdir(setup.folder) == 0) {
    ::execv(setup.executable, setup.arguments);
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(setup.failure, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  close();
  descriptor_ = std::exchange(other.descriptor_, -1);
  return *this;
}

void Descriptor::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

StopSignal::StopSignal() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_.get() < 0) throw_system("no event for the workers");
}

void StopSignal::raise() {
  is_raised_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(descriptor_.get(), &one, sizeof one);
}

fs::path find_executable(const std::string& program, const fs::path& folder) {
  const auto is_executable = [](const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
  };
  std::error_code ignored;
  if (program.find('/') != std::string::npos) {
    fs::path path = fs::absolute(folder / program, ignored);
    return is_executable(path) ? path : fs::path();
  }
  const char* const variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? "/usr/bin:/bin" : variable;
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    fs::path path = fs::absolute(fs::path(rest.substr(0, colon)) / program, ignored);
    if (is_executable(path)) return path;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return {};
}

ChildProcess::ChildProcess(const ChildOptions& options, const StopSignal& stop) : stop_(&stop), log_(options.log) {
  Pipe input = make_pipe(), output = make_pipe(), failure = make_pipe();
  Descriptor log;
  if (log_.empty()) {
    Pipe errors = make_pipe();
    log = std::move(errors.write);
    errors_ = std::move(errors.read);
    ::fcntl(errors_.get(), F_SETFL, O_NONBLOCK);
  } else {
    log = open_log(log_);
    std::error_code ignored;
    log_start_ = fs::file_size(log_, ignored);
  }
  std::vector<char*> arguments;
  arguments.reserve(options.command.size() + 1);
  for (const std::string& word : options.command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const ChildSetup setup{::getpid(),       options.folder.c_str(), options.executable.c_str(),
                         arguments.data(), input.read.get(),       output.write.get(),
                         log.get(),        failure.write.get()};
  pid_ = ::fork();
  if (pid_ < 0) throw_system("no process for a program");
  if (pid_ == 0) run_child(setup);
  failure.write.close();
  int error = 0;
  ssize_t received = 0;
  do {
    received = ::read(failure.read.get(), &error, sizeof error);
  } while (received < 0 && errno == EINTR);
  if (received > 0) {
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
    errno = error;
    throw_system(fmt::format("{} cannot be run in {}", options.executable.string(), options.folder.string()));
  }
  input_ = std::move(input.write);
  output_ = std::move(output.read);
  ::fcntl(input_.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
}

// Returns kDone if the descriptor can be used, even if using it will report an error.
ChildProcess::Outcome ChildProcess::wait_until_ready(int descriptor, short events, Clock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return Outcome::kTimeout;
    pollfd polled[3] = {{descriptor, events, 0}, {stop_->descriptor(), POLLIN, 0}, {errors_.get(), POLLIN, 0}};
    constexpr std::int64_t kLongestPoll = 3'600'000;
    const int ready = ::poll(polled, 3, static_cast<int>(std::min<std::int64_t>(left, kLongestPoll)));
    if (ready < 0 && errno != EINTR) return Outcome::kClosed;
    if (ready > 0 && polled[2].revents != 0) take_errors();
    if (stop_->is_raised()) return Outcome::kStopped;
    if (ready > 0 && polled[0].revents != 0) return Outcome::kDone;
  }
}

// A program must not be blocked because nobody reads its error messages. So all of them are read, and the end is kept.
void ChildProcess::take_errors() {
  char chunk[1 << 12];
  while (errors_.get() >= 0) {
    const ssize_t received = ::read(errors_.get(), chunk, sizeof chunk);
    if (received < 0 && errno == EINTR) continue;
    if (received < 0 && errno == EAGAIN) return;
    if (received <= 0) return errors_.close();
    last_errors_.append(chunk, static_cast<std::size_t>(received));
    last_errors_.erase(0, last_errors_.size() - std::min(last_errors_.size(), kShownBytes));
  }
}

ChildProcess::Outcome ChildProcess::write_line(std::string line, Clock::time_point deadline) {
  line += '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    const Outcome outcome = wait_until_ready(input_.get(), POLLOUT, deadline);
    if (outcome != Outcome::kDone) return outcome;
    const ssize_t written = ::write(input_.get(), rest.data(), rest.size());
    if (written < 0 && errno != EINTR && errno != EAGAIN) return Outcome::kClosed;
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return Outcome::kDone;
}

ChildProcess::Outcome ChildProcess::fill_buffer(Clock::time_point deadline) {
  constexpr std::size_t kChunkBytes = 1 << 14;
  const std::size_t size = buffer_.size();
  if (size > kMaxLineBytes) return Outcome::kTooLong;
  const Outcome outcome = wait_until_ready(output_.get(), POLLIN, deadline);
  if (outcome != Outcome::kDone) return outcome;
  buffer_.resize(size + kChunkBytes);
  const ssize_t received = ::read(output_.get(), buffer_.data() + size, kChunkBytes);
  buffer_.resize(size + static_cast<std::size_t>(std::max<ssize_t>(received, 0)));
  const bool is_closed = received == 0 || (received < 0 && errno != EINTR && errno != EAGAIN);
  return is_closed ? Outcome::kClosed : Outcome::kDone;
}

ChildProcess::Outcome ChildProcess::read_all(std::string& text, Clock::time_point deadline) {
  Outcome outcome = Outcome::kDone;
  while (outcome == Outcome::kDone) outcome = fill_buffer(deadline);
  text = std::exchange(buffer_, {});
  return outcome == Outcome::kClosed ? Outcome::kDone : outcome;
}

ChildProcess::Outcome ChildProcess::read_line(std::string& line, Clock::time_point deadline) {
  std::size_t searched = 0;
  while (true) {
    const std::size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return Outcome::kDone;
    }
    searched = buffer_.size();
    const Outcome outcome = fill_buffer(deadline);
    if (outcome != Outcome::kDone) return outcome;
  }
}

// True if the program has ended. It has not been waited for yet, so that its process id, which is also that of the
// group, cannot be given to another process.
bool ChildProcess::wait_for_exit(milliseconds time) {
  const Clock::time_point deadline = Clock::now() + time;
  for (milliseconds pause{1};; pause = std::min(2 * pause, milliseconds{20})) {
    take_errors();
    siginfo_t info = {};
    const int result = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    if (result != 0 && errno != EINTR) return true;  // the host ignores SIGCHLD, so there is nothing to wait for
    if (result == 0 && info.si_pid == pid_) return true;
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(pause);
  }
}

void ChildProcess::close() {
  if (pid_ < 0) return;
  input_.close();
  wait_for_exit(kGrace);
  terminate();
}

void ChildProcess::terminate() {
  if (pid_ < 0) return;
  input_.close();
  if (!wait_for_exit(milliseconds{0})) {
    ::kill(-pid_, SIGTERM);
    wait_for_exit(kGrace);
  }
  ::kill(-pid_, SIGKILL);  // including processes that it has started itself
  while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  take_errors();
  output_.close();
}

bool ChildProcess::has_succeeded() const { return WIFEXITED(status_) && WEXITSTATUS(status_) == 0; }

std::string ChildProcess::ending() const {
  if (WIFEXITED(status_)) return fmt::format("exited with status {}", WEXITSTATUS(status_));
  return fmt::format("was ended by signal {} ({})", WTERMSIG(status_), ::sigdescr_np(WTERMSIG(status_)));
}

std::string ChildProcess::last_log_line() const {
  if (log_.empty()) return last_line(last_errors_);
  std::error_code ignored;
  const std::uintmax_t size = fs::file_size(log_, ignored);
  if (ignored || size <= log_start_) return "";
  std::ifstream file(log_, std::ios::binary);
  const std::uintmax_t begin = std::max(log_start_, size - std::min<std::uintmax_t>(size, kShownBytes));
  file.seekg(static_cast<std::streamoff>(begin));
  std::string tail(static_cast<std::size_t>(size - begin), '\0');
  file.read(tail.data(), static_cast<std::streamsize>(tail.size()));
  return last_line(std::move(tail));
}

}  // namespace treesample
