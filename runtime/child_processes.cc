#include "runtime/child_processes.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "costmodel/check.h"

extern char** environ;

namespace stagecraft {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kGrace = std::chrono::seconds(2);  // between the request to end and the kill
constexpr int kLookMs = 10;                       // the longest time until a death is noticed
constexpr int kCannotRun = 127;                   // exit code if the program cannot be started

std::string_view NameOf(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

std::vector<std::string> Environment(const std::vector<std::string>& own) {
  std::vector<std::string> variables = own;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const auto is_same = [&](const std::string& one) { return NameOf(one) == NameOf(*variable); };
    if (std::none_of(own.begin(), own.end(), is_same)) variables.emplace_back(*variable);
  }
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

struct Pipe {
  Pipe() { CHECK(pipe2(ends.data(), O_CLOEXEC) == 0); }
  std::array<int, 2> ends{};  // the end to read from, the end to write to
};

// The end of a pipe from which the output of a process is read line by line.
class LineReader {
 public:
  LineReader(int end, ChildLine line) : end_(end), line_(std::move(line)) {
    CHECK(fcntl(end_, F_SETFL, O_NONBLOCK) == 0);
  }
  LineReader(LineReader&& other) noexcept
      : end_(std::exchange(other.end_, -1)), line_(std::move(other.line_)) {}
  ~LineReader() {
    if (end_ >= 0) close(end_);
  }

  int end() const { return end_; }  // -1: the process has closed its end

  // Reads everything that has arrived.
  void Read(const std::function<void(const ChildLine&)>& hear) {
    std::array<char, 4096> bytes{};
    while (end_ >= 0) {
      const ssize_t count = read(end_, bytes.data(), bytes.size());
      if (count < 0) return;
      if (count == 0) Close(hear);
      for (const char byte : std::string_view(bytes.data(), static_cast<size_t>(count))) {
        if (byte == '\n') {
          hear(line_);
          line_.text.clear();
        } else {
          line_.text += byte;
        }
      }
    }
  }

 private:
  void Close(const std::function<void(const ChildLine&)>& hear) {
    close(end_);
    end_ = -1;
    if (!line_.text.empty()) hear(line_);
  }

  int end_;
  ChildLine line_;
};

// Runs in the new process until it becomes another program. If that fails, it writes the reason to
// `trouble`.
[[noreturn]] void Become(char* const* words, char* const* variables, const Pipe& out,
                         const Pipe& err, int trouble) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  setpgid(0, 0);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  dup2(out.ends[1], STDOUT_FILENO);
  dup2(err.ends[1], STDERR_FILENO);
  execvpe(words[0], words, variables);
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = write(trouble, &reason, sizeof reason);
  _exit(kCannotRun);
}

class Children {
 public:
  Children(const std::function<void(const ChildLine&)>& line, const std::atomic<bool>* stop)
      : line_(line), stop_(stop) {}
  // Kills all processes that still run, also if an exception was thrown.
  ~Children() {
    Signal(SIGKILL);
    for (const pid_t pid : pids_) {
      if (pid > 0) waitpid(pid, nullptr, 0);
    }
  }
  Children(const Children&) = delete;

  void Start(const ChildProcess& process) {
    std::vector<std::string> command = process.command;
    std::vector<std::string> variables = Environment(process.variables);
    const std::vector<char*> words = Pointers(command), values = Pointers(variables);
    const Pipe out, err, trouble;
    const pid_t pid = fork();
    if (pid == 0) Become(words.data(), values.data(), out, err, trouble.ends[1]);
    CHECK(pid > 0);
    for (const Pipe* pipe : {&out, &err, &trouble}) close(pipe->ends[1]);
    const int index = static_cast<int>(pids_.size());
    pids_.push_back(pid);
    readers_.emplace_back(out.ends[0], ChildLine{index, false, ""});
    readers_.emplace_back(err.ends[0], ChildLine{index, true, ""});
    int reason = 0;
    const bool is_started = read(trouble.ends[0], &reason, sizeof reason) == 0;
    close(trouble.ends[0]);
    if (!is_started) {
      throw InputError(
          fmt::format("run: cannot start {}: {}", process.command[0], std::strerror(reason)));
    }
  }

  ChildrenEnd Wait() {
    while (AnyRuns()) {
      std::vector<pollfd> ends;
      for (const LineReader& reader : readers_) ends.push_back({reader.end(), POLLIN, 0});
      poll(ends.data(), ends.size(), kLookMs);
      for (LineReader& reader : readers_) reader.Read(line_);
      Look();
      if (IsEnding() && Clock::now() >= kill_at_) Signal(SIGKILL);
    }
    for (LineReader& reader : readers_) reader.Read(line_);
    return end_;
  }

 private:
  void Signal(int signal) const {
    for (const pid_t pid : pids_) {
      if (pid > 0) kill(pid, signal);
    }
  }

  bool AnyRuns() const {
    return std::any_of(pids_.begin(), pids_.end(), [](pid_t pid) { return pid > 0; });
  }
  bool IsEnding() const { return end_.failed >= 0 || end_.was_stopped; }

  // Notes which processes have ended since the last call. If several failed in the meantime and one
  // of them was killed by a signal, that one is taken for the cause: the others may have failed
  // because of it.
  void Look() {
    const bool was_ending = IsEnding();
    for (size_t index = 0; index < pids_.size(); ++index) {
      int status = 0;
      if (pids_[index] <= 0 || waitpid(pids_[index], &status, WNOHANG) == 0) continue;
      pids_[index] = 0;
      if (was_ending || status == 0) continue;
      const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      if (end_.failed >= 0 && (end_.signal > 0 || signal == 0)) continue;
      end_ = {static_cast<int>(index), signal > 0 ? 128 + signal : WEXITSTATUS(status), signal};
    }
    if (stop_ != nullptr && *stop_ && !IsEnding() && AnyRuns()) end_.was_stopped = true;
    if (was_ending || !IsEnding()) return;
    kill_at_ = Clock::now() + kGrace;
    Signal(SIGTERM);
  }

  const std::function<void(const ChildLine&)>& line_;
  const std::atomic<bool>* const stop_;  // may be nullptr
  std::vector<pid_t> pids_;              // 0: the process has ended
  std::vector<LineReader> readers_;
  ChildrenEnd end_;
  Clock::time_point kill_at_;
};

}  // namespace

ChildrenEnd RunProcesses(const std::vector<ChildProcess>& processes,
                         const std::function<void(const ChildLine&)>& line,
                         const std::atomic<bool>* stop) {
  // A process that was started with SIGCHLD ignored would not learn how its children ended.
  std::signal(SIGCHLD, SIG_DFL);
  Children children(line, stop);
  for (const ChildProcess& process : processes) children.Start(process);
  return children.Wait();
}

}  // namespace stagecraft
