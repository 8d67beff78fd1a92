// FakeStreams: executes a StreamProgram in any order that the streams of devices allow; for tests.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "costmodel/random.h"
#include "runtime/stream_program.h"

namespace stagecraft {

// How the streams of a process reach its device: each by itself, or all through one queue, as on a
// device that has fewer queues than there are streams: a command that waits then holds up
// everything that was queued later.
enum class Queues { kOneAStream, kOneAProcess };

class FakeStreams {
 public:
  // Is called with commands that are executed, one by one; those that meet (ends of a message,
  // members of a collective between processes) all at once.
  using Run = std::function<void(const std::vector<Command>& together)>;

  FakeStreams(const StreamProgram& program, Processes processes, Queues queues);

  // Returns what is wrong: events that are waited for before they are queued, or that no command
  // can go on. Empty if everything was executed. What runs next is drawn from `random`.
  std::string Execute(Random random, const Run& run);

  // By event, when it was recorded, counted in commands.
  const std::vector<int>& recorded() const { return recorded_; }

 private:
  using Queue = std::vector<Command>;

  std::string FindUnrecorded() const;
  // Heads of queues that run together with that of `queue`; none if it must wait.
  std::vector<size_t> Together(size_t queue) const;

  const StreamProgram& program_;
  const bool is_one_process_;
  std::vector<Queue> queues_;
  std::vector<size_t> next_;  // by queue
  std::vector<int> recorded_;
};

}  // namespace stagecraft
