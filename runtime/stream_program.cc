#include "runtime/stream_program.h"

#include <fmt/core.h>

#include <deque>
#include <map>
#include <span>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/collectives.h"
#include "runtime/stream_writer.h"

namespace stagecraft {
namespace {

// Keys of groups that belong to no kind of lane.
constexpr int32_t kMessageKey = 1000, kWordKey = 2000000000;

class StreamProgramMaker {
 public:
  StreamProgramMaker(const Schedule& schedule, Processes processes)
      : schedule_(schedule), is_one_process_(processes == Processes::kOne) {
    for (int32_t rank = 0; rank < static_cast<int32_t>(schedule.ranks().size()); ++rank) {
      program_.ranks.push_back(MakeRankProgram(schedule, rank));
    }
    for (const RankProgram& rank : program_.ranks) {
      std::vector<StepState>& states = states_.emplace_back(rank.steps.size());
      program_.steps.emplace_back(rank.steps.size());
      for (size_t s = 0; s < rank.steps.size(); ++s) states[s].waits = rank.steps[s].waits;
    }
  }

  StreamProgram Make() {
    for (const RankProgram& rank : program_.ranks) {
      for (size_t s = 0; s < rank.steps.size(); ++s) {
        OfferIfReady({rank.rank, static_cast<int32_t>(s)});
      }
    }
    while (!ready_.empty()) {
      const Part part = ready_.front();
      ready_.pop_front();
      if (part.op == 0) Begin(part);
      Continue(part);
    }
    CheckAllEnded();
    return std::move(program_);
  }

 private:
  // A rank's part in a task, with the number of its ops that are already queued.
  struct Part {
    int32_t rank = -1;
    int32_t step = -1;
    int32_t op = 0;
  };
  struct StepState {
    int waits = 0;
    std::vector<int32_t> events;  // for which it waits
    std::vector<int32_t> beside;  // ends of overlapped collectives for which it has not yet waited
    bool is_ended = false;
  };

  const RankStep& StepOf(const Part& part) const {
    return program_.ranks[part.rank].steps[part.step];
  }
  StepState& StateOf(const Part& part) { return states_[part.rank][part.step]; }
  StepEvents& EventsOf(const Part& part) { return program_.steps[part.rank][part.step]; }

  void OfferIfReady(const Part& part) {
    if (StateOf(part).waits == 0 && StepOf(part).kind != StepKind::kReceive) {
      ready_.push_back(part);
    }
  }

  // Returns the streams of the lanes that the rank holds for a task; its commands are queued on the
  // first.
  std::vector<int32_t> StreamsOf(const Part& part) {
    std::vector<int32_t> streams;
    for (const Lane lane : schedule_.lanes(StepOf(part).task)) {
      if (schedule_.lane_infos()[Index(lane)].rank != part.rank) continue;
      streams.push_back(writer_.StreamOf({StreamKind::kLane, part.rank, lane}));
    }
    CHECK(!streams.empty());
    return streams;
  }
  void Add(const StreamCommand& command) { writer_.Add(command); }

  void Begin(const Part& part) {
    const std::vector<int32_t> streams = StreamsOf(part);
    for (size_t i = 1; i < streams.size(); ++i) {
      writer_.Wait(streams[0], writer_.Record(streams[i]));
    }
    for (const int32_t event : StateOf(part).events) writer_.Wait(streams[0], event);
    EventsOf(part).begin = writer_.Record(streams[0]);
  }

  int OpCount(TaskId task) const {
    const OpSequenceId op_sequence = schedule_.op_sequence(task);
    return op_sequence < 0 ? 0 : static_cast<int>(schedule_.ops(op_sequence).size());
  }
  const Op& OpOf(TaskId task, int index) const {
    return schedule_.op(schedule_.ops(schedule_.op_sequence(task))[index]);
  }
  // Whether a collective overlaps the op after it, because the op sequence says so and there is
  // such an op.
  bool Overlaps(TaskId task, int index) const {
    const uint8_t flags = schedule_.flags(schedule_.op_sequence(task))[index];
    return (flags & kOverlapsNext) != 0 && index + 1 < OpCount(task);
  }

  // Queues commands up to a collective at which not all members have arrived, or up to the end.
  void Continue(Part part) {
    const RankStep& step = StepOf(part);
    if (step.kind == StepKind::kSend) return Send(part);
    const int32_t stream = StreamsOf(part)[0];
    const int ops = OpCount(step.task);
    while (part.op < ops) {
      int last = part.op;
      while (last < ops && !IsCollective(OpOf(step.task, last).kind)) ++last;
      if (last > part.op) {
        // Only the op right after a collective overlaps it.
        if (!StateOf(part).beside.empty()) last = part.op + 1;
        Add({CommandKind::kRun, stream, -1, step.task, part.op, last});
        part.op = last;
        Join(part, stream);
        continue;
      }
      return Meet(part);
    }
    End(part);
  }

  void Join(const Part& part, int32_t stream) {
    for (const int32_t event : std::exchange(StateOf(part).beside, {})) writer_.Wait(stream, event);
  }

  // Returns the group of a collective; groups of the same ranks on different kinds of lanes have
  // different keys.
  int32_t CollectiveGroup(const Part& part) {
    const RankStep& step = StepOf(part);
    const Op& op = OpOf(step.task, part.op);
    if (op.kind == OpKind::kSendRecv) {
      throw InputError(fmt::format("schedule: task {} has a message among its ops", step.task));
    }
    const Lane lane = schedule_.lanes(step.task)[0];
    const auto kind = static_cast<int32_t>(schedule_.lane_infos()[Index(lane)].kind);
    if (step.kind == StepKind::kCollective) return writer_.GroupOf(step.peers, kind);
    const uint8_t flags = schedule_.flags(schedule_.op_sequence(step.task))[part.op];
    return writer_.GroupOf(OpPeers(schedule_, part.rank, op, flags), kind);
  }

  void Meet(const Part& part) {
    const int32_t group = CollectiveGroup(part);
    std::vector<Part>& arrived = arrived_[group];
    arrived.push_back(part);
    if (arrived.size() < writer_.group(group).ranks.size()) return;
    std::vector<Part> members = std::exchange(arrived, {});
    Share(members, group);
    for (Part& member : members) {
      ++member.op;
      ready_.push_back(member);
    }
  }

  // Queues a collective of members that have all arrived; it may be an op of a different task for
  // each of them.
  void Share(std::span<const Part> members, int32_t group) {
    if (members.size() == 1) return;
    std::vector<int32_t> streams;
    for (const Part& member : members) {
      const TaskId task = StepOf(member).task;
      const int32_t own = StreamsOf(member)[0];
      streams.push_back(own);
      if (StepOf(member).kind != StepKind::kCompute || !Overlaps(task, member.op)) continue;
      streams.back() = writer_.StreamOf({StreamKind::kBeside, member.rank});
      writer_.Wait(streams.back(), writer_.Record(own));
    }
    const OpKind kind = OpOf(StepOf(members[0]).task, members[0].op).kind;
    const int phases = is_one_process_ ? CollectiveOf(kind).Rounds() : 1;
    for (int phase = 0; phase < phases; ++phase) {
      if (is_one_process_) writer_.MeetOn(streams);
      for (size_t i = 0; i < members.size(); ++i) {
        const int32_t op = members[i].op;
        Add({CommandKind::kShare, streams[i], -1, StepOf(members[i]).task, op, op + 1, group,
             phase});
      }
    }
    if (is_one_process_) writer_.MeetOn(streams);
    for (size_t i = 0; i < members.size(); ++i) {
      if (writer_.stream(streams[i]).kind == StreamKind::kBeside) {
        StateOf(members[i]).beside.push_back(writer_.Record(streams[i]));
      } else {
        Join(members[i], streams[i]);
      }
    }
  }

  void Send(const Part& part) {
    const RankStep& step = StepOf(part);
    const int32_t stream = StreamsOf(part)[0];
    if (step.peers.size() != 2) {
      throw InputError(fmt::format("schedule: task {} sends to no rank", step.task));
    }
    const int32_t receiver = step.peers[1];
    const Part other{receiver, program_.ranks[receiver].StepOf(step.task)};
    CHECK(other.step >= 0);
    if (is_one_process_) {
      Add({.kind = CommandKind::kCopy, .stream = stream, .task = step.task, .last = 1});
      End(part);
      EventsOf(other) = EventsOf(part);
    } else {
      const Lane lane = schedule_.lanes(step.task)[0];
      const int32_t group = writer_.GroupOf(step.peers, kMessageKey + Index(lane));
      const int32_t inbox = writer_.StreamOf({StreamKind::kReceive, other.rank, lane, part.rank});
      Add({CommandKind::kSend, stream, -1, step.task, 0, 1, group});
      EventsOf(other).begin = writer_.Record(inbox);
      Add({CommandKind::kReceive, inbox, -1, step.task, 0, 1, group});
      EventsOf(other).end = writer_.Record(inbox);
      End(part);
    }
    Release(other);
  }

  void End(const Part& part) {
    const std::vector<int32_t> streams = StreamsOf(part);
    Join(part, streams[0]);
    EventsOf(part).end = writer_.Record(streams[0]);
    for (size_t i = 1; i < streams.size(); ++i) writer_.Wait(streams[i], EventsOf(part).end);
    Release(part);
    for (const int32_t other : StepOf(part).signals) Signal(part, other);
  }

  // Releases the steps of the same rank that wait for this one.
  void Release(const Part& part) {
    StateOf(part).is_ended = true;
    for (const int32_t next : StepOf(part).next) {
      Allow({part.rank, next}, EventsOf(part).end);
    }
  }
  void Allow(const Part& part, int32_t event) {
    StepState& state = StateOf(part);
    state.events.push_back(event);
    if (--state.waits == 0) OfferIfReady(part);
  }

  // Releases the steps of another rank, which takes no part in the task, that wait for its end.
  void Signal(const Part& part, int32_t other) {
    const TaskId task = StepOf(part).task;
    const AwaitedSignal* const awaited = program_.ranks[other].SignalOf(task);
    if (awaited == nullptr) return;
    int32_t event = EventsOf(part).end;
    if (!is_one_process_) {
      const int32_t mouth = writer_.StreamOf({StreamKind::kWords, part.rank, Lane{-1}, other});
      const int32_t ear = writer_.StreamOf({StreamKind::kWords, other, Lane{-1}, part.rank});
      const int32_t group = writer_.GroupOf({part.rank, other}, kWordKey);
      writer_.Wait(mouth, event);
      Add({CommandKind::kSay, mouth, -1, task, 0, 0, group});
      Add({CommandKind::kHear, ear, -1, task, 0, 0, group});
      event = writer_.Record(ear);
    }
    for (const int32_t next : awaited->next) Allow({other, next}, event);
  }

  void CheckAllEnded() const {
    for (size_t rank = 0; rank < states_.size(); ++rank) {
      for (size_t s = 0; s < states_[rank].size(); ++s) {
        if (states_[rank][s].is_ended) continue;
        throw InputError(fmt::format("schedule: task {} and others wait for each other in a circle",
                                     program_.ranks[rank].steps[s].task));
      }
    }
  }

  const Schedule& schedule_;
  const bool is_one_process_;
  StreamProgram program_;
  StreamWriter writer_{program_};
  std::vector<std::vector<StepState>> states_;  // indexed like StreamProgram::steps
  std::deque<Part> ready_;
  std::map<int32_t, std::vector<Part>> arrived_;  // those at a collective, by group
};

}  // namespace

StreamProgram MakeStreamProgram(const Schedule& schedule, Processes processes) {
  return StreamProgramMaker(schedule, processes).Make();
}

std::vector<StreamCommand> CommandsOf(const StreamProgram& program, int32_t rank) {
  std::vector<StreamCommand> own;
  for (const StreamCommand& command : program.commands) {
    if (program.streams[command.stream].rank == rank) own.push_back(command);
  }
  return own;
}

}  // namespace stagecraft
