// StreamProgram: a schedule as commands that are queued on the streams of devices.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/rank_program.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// What a command does. A command on a stream begins when all earlier ones there have ended.
enum class CommandKind : uint8_t {
  kRecord,   // records an event; each event is recorded once
  kWait,     // waits for an event that was recorded earlier in the program
  kRun,      // runs ops `first` to `last` - 1 of the task, none of which is a collective
  kShare,    // does the rank's part in op `first` of the task, a collective of `group`
  kCopy,     // copies a message to its receiver in the same process
  kSend,     // the two ends of a message between processes, in `group`
  kReceive,  //
  kSay,      // the two ends of an empty message
  kHear,     //
};

struct StreamCommand {
  CommandKind kind = CommandKind::kRecord;
  int32_t stream = -1;
  int32_t event = -1;
  TaskId task = -1;
  int32_t first = 0, last = 0;
  int32_t group = -1;
  int32_t phase = 0;  // 1 for the second half of an all-reduce in one process
};

enum class StreamKind : uint8_t {
  kLane,     // the work of a lane of the schedule
  kBeside,   // collectives that overlap the op after them
  kReceive,  // messages from one lane of another rank
  kWords,    // empty messages to or from one other rank
};

struct StreamInfo {
  StreamKind kind = StreamKind::kLane;
  int32_t rank = -1;
  Lane lane{-1};  // the lane whose work it does, or from which it receives
  int32_t peer = -1;
};

// Ranks that exchange on one kind of stream, in the order of their positions in the group.
struct StreamGroup {
  std::vector<int32_t> ranks;
  int32_t key = 0;  // distinguishes groups of the same ranks
};

// The events at which a rank's part in a task began and ended.
struct StepEvents {
  int32_t begin = -1, end = -1;
};

struct StreamProgram {
  std::vector<RankProgram> ranks;  // by rank
  std::vector<StreamInfo> streams;
  std::vector<StreamGroup> groups;
  std::vector<StreamCommand> commands;
  std::vector<std::vector<StepEvents>> steps;  // by rank, then by step of its program
  int events = 0;
};

// How many processes run the ranks. With kOne the streams of all ranks are on one device: a rank
// waits for events of other ranks, a message is a copy on its sender's lane, and a collective is
// work of each member between events at which all have arrived. With kOneARank, one process for
// each rank, sends, receives and collectives of a group do the same, and a command names only
// events of its own rank.
enum class Processes { kOne, kOneARank };

// Returns the commands of all ranks, in an order in which no command waits for a later one. So
// streams, queues that several streams share, and processes that each queue their own part cannot
// block one another, and the members of a group queue its exchanges in the same order. Throws
// InputError in the cases of MakeRankProgram() and if tasks wait for each other in a circle. Linear
// in tasks, lanes, dependencies and ops of op sequences with collectives.
StreamProgram MakeStreamProgram(const Schedule& schedule, Processes processes);

// Returns the commands of one rank, in order.
std::vector<StreamCommand> CommandsOf(const StreamProgram& program, int32_t rank);

}  // namespace stagecraft
