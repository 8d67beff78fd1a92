// FakeStreams: executes a StreamProgram in any order that the streams of devices allow; for tests.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "costmodel/random.h"
#include "runtime/stream_program.h"

namespace stagecraft {

// How the streams of a process reach its device: each through a queue of its own, or all through
// one queue, as on a device with fewer queues than streams. In a shared queue a command that waits
// holds up everything that was queued after it.
enum class Queues { kOneAStream, kOneAProcess };

class FakeStreams {
 public:
  // Called with each command that is executed. Commands that meet (the two ends of a message, the
  // members of a collective between processes) are passed together.
  using Run = std::function<void(const std::vector<StreamCommand>& together)>;

  FakeStreams(const StreamProgram& program, Processes processes, Queues queues);

  // Executes all commands; `random` decides which one is next. Returns what is wrong, or an empty
  // string if everything was executed: an event is waited for before it is recorded, or no command
  // can go on.
  std::string Execute(Random random, const Run& run);

  // For each event, the number of executions before it was recorded.
  const std::vector<int>& recorded() const { return recorded_; }

 private:
  using Queue = std::vector<StreamCommand>;

  std::string FindUnrecorded() const;
  // Returns the queues whose first commands run together with that of `queue`; none if it must
  // wait.
  std::vector<size_t> Together(size_t queue) const;

  const StreamProgram& program_;
  const bool is_one_process_;
  std::vector<Queue> queues_;
  std::vector<size_t> next_;  // by queue
  std::vector<int> recorded_;
};

}  // namespace stagecraft
