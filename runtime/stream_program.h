// StreamProgram: a schedule as what is queued on the streams of devices, command by command.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/rank_program.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// Work on a stream begins when everything before it there has ended. Each event is recorded once.
enum class CommandKind : uint8_t {
  kRecord,   // an event
  kWait,     // for an event that was recorded earlier in the program
  kRun,      // ops `first` to `last`, none a collective, of the task's op sequence
  kShare,    // the rank's part in collective `first` of the sequence, among `group`
  kCopy,     // a message as a whole, if both ends are in one process
  kSend,     // the two ends of a message between processes, in `group`
  kReceive,  //
  kSay,      // the two ends of an empty message
  kHear,     //
};

struct Command {
  CommandKind kind = CommandKind::kRecord;
  int32_t stream = -1;
  int32_t event = -1;
  TaskId task = -1;
  int32_t first = 0, last = 0;
  int32_t group = -1;
  int32_t phase = 0;  // of a collective in one process: 1 for the second half of an all-reduce
};

enum class StreamKind : uint8_t {
  kLane,     // a lane of the schedule
  kBeside,   // collectives that overlap the op after them
  kReceive,  // what comes from one lane of another rank
  kWords,    // empty messages to or from one other rank
};

struct StreamInfo {
  StreamKind kind = StreamKind::kLane;
  int32_t rank = -1;
  Lane lane{-1};  // that it stands for, or receives from
  int32_t peer = -1;
};

// Ranks that exchange on one kind of stream, in the order of their group.
struct StreamGroup {
  std::vector<int32_t> ranks;
  int32_t key = 0;  // distinguishes groups of equal ranks
};

// When a rank's part in a task began and ended.
struct StepEvents {
  int32_t begin = -1, end = -1;
};

struct StreamProgram {
  std::vector<RankProgram> ranks;  // by rank
  std::vector<StreamInfo> streams;
  std::vector<StreamGroup> groups;
  std::vector<Command> commands;
  std::vector<std::vector<StepEvents>> steps;  // by rank, then step of its program
  int events = 0;
};

// With kOne every rank's streams are on one device: a rank waits for events of other ranks, a
// message is a copy on its sender's lane, and a collective is work of each member between events at
// which all have arrived. With kOneARank, one process for each rank, the same is done by sends,
// receives and collectives of a group, and the event of a command is always of its own rank.
enum class Processes { kOne, kOneARank };

// The commands of all ranks, in an order in which no command waits for a later one: streams, queues
// that several streams share, and processes that each queue their own part of it cannot block each
// other, and members of a group meet in the same order. Throws InputError as MakeRankProgram()
// does, and if tasks wait for each other in a circle. Linear in tasks, lanes, dependencies and ops
// of op sequences with collectives.
StreamProgram MakeStreamProgram(const Schedule& schedule, Processes processes);

// The commands of one rank, in order.
std::vector<Command> CommandsOf(const StreamProgram& program, int32_t rank);

}  // namespace stagecraft
