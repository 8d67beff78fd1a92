// Runs processes on this host, hears what they print, and ends all of them when one fails.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace stagecraft {

struct ChildProcess {
  std::vector<std::string> command;  // a program, found as a shell finds it, and its arguments
  // "RANK=0": added to the variables of this process, in place of those of the same name.
  std::vector<std::string> variables;
};

// A line that a process printed, without the end of the line.
struct ChildLine {
  int process = 0;  // index
  bool is_error = false;
  std::string text;
};

struct ChildrenEnd {
  int failed = -1;           // index of the process that failed first; -1: none failed
  int exit_code = 0;         // that of this process; 128 + signal if a signal killed it
  int signal = 0;            // the signal that killed it; 0 if none did
  bool was_stopped = false;  // `stop` ended them; nothing failed before
};

// Starts all processes and returns when all have ended. When one fails, by its exit code or by a
// signal, or when `stop` becomes true, the others are asked to end and, two seconds later, killed.
// If this process ends first, the kernel asks the others to end. They read an empty input, and
// Ctrl-C in a terminal reaches only this process. `line` is called by this thread. Throws
// InputError, "run: cannot start mpirun: No such file or directory", if a program cannot be
// started.
ChildrenEnd RunProcesses(const std::vector<ChildProcess>& processes,
                         const std::function<void(const ChildLine&)>& line,
                         const std::atomic<bool>* stop = nullptr);

}  // namespace stagecraft
