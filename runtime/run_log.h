// RunLog: when the processes of a training run did what, in a file that survives them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/units.h"

namespace stagecraft {

struct LogEntry {
  enum class What {
    kReady,     // all processes run
    kReloaded,  // all have read their part of a checkpoint
    kStep,      // `step` steps are complete
    kSaving,    // a checkpoint after `step` steps begins
    kSaved,     // it is complete
    kDying,     // `step` steps are complete, and rank `rank` kills itself
  };
  What what = What::kReady;
  int rank = 0;
  int64_t step = 0;
  Duration time;  // on the clock that the ranks of a host share with their launcher
  friend bool operator==(const LogEntry&, const LogEntry&) = default;
};

// Several processes may append to one file at the same time. What one has appended is in it even if
// the process is killed the next moment.
class RunLog {
 public:
  explicit RunLog(std::string path) : path_(std::move(path)) {}

  void Append(const LogEntry& entry) const;

  // Returns everything in order of time.
  std::vector<LogEntry> Read() const;

 private:
  const std::string path_;
};

}  // namespace stagecraft
