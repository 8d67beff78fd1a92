#include "sim/schedule/schedule_proto.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/op_proto.h"

namespace stagecraft {
namespace {

constexpr int64_t kMaxInt16 = std::numeric_limits<int16_t>::max();
constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxUint8 = std::numeric_limits<uint8_t>::max();

// The place of a value in a file: "<path>.<list>[<index>].<field>", put together only for an error.
struct Place {
  std::string_view path;
  const char* list;
  int index;

  [[noreturn]] void Fail(std::string_view field, int64_t got, std::string_view want) const {
    throw InputError(
        fmt::format("{}.{}[{}].{}: got {}, want {}", path, list, index, field, got, want));
  }
  int64_t InRange(std::string_view field, int64_t value, int64_t least, int64_t most) const {
    if (value < least || value > most) {
      Fail(field, value,
           most < least ? "no value, as there is nothing to refer to"
                        : fmt::format("{} to {}", least, most));
    }
    return value;
  }
};

// The value of an optional field, or -1 where it does not apply.
int64_t OrNone(const Place& place, const char* field, bool is_present, int64_t value,
               int64_t most) {
  return is_present ? place.InRange(field, value, 0, most) : -1;
}

class ScheduleReader {
 public:
  ScheduleReader(const ScheduleProto& proto, std::string_view path) : proto_(proto), path_(path) {}

  Schedule Read() {
    for (int i = 0; i < proto_.ops_size(); ++i) {
      builder_.AddOp(OpFromProto(proto_.ops(i), fmt::format("{}.ops[{}]", path_, i)));
    }
    for (int i = 0; i < proto_.blocks_size(); ++i) ReadBlock(i);
    for (int i = 0; i < proto_.ranks_size(); ++i) ReadRank(i);
    for (int i = 0; i < proto_.lanes_size(); ++i) ReadLane(i);
    for (int i = 0; i < proto_.communicators_size(); ++i) ReadCommunicator(i);
    for (int i = 0; i < proto_.tasks_size(); ++i) ReadTask(i);
    for (int i = 0; i < proto_.tasks_size(); ++i) ReadSuccessors(i);
    return builder_.Build();
  }

 private:
  void ReadBlock(int index) {
    const Place place{path_, "blocks", index};
    std::vector<OpId> ops;
    for (const OpId op : proto_.blocks(index).ops()) {
      place.InRange("ops", op, 0, proto_.ops_size() - 1);
      ops.push_back(op);
    }
    std::vector<uint8_t> flags;
    for (const uint32_t flag : proto_.blocks(index).flags()) {
      place.InRange("flags", flag, 0, kAllStepFlags);
      flags.push_back(static_cast<uint8_t>(flag));
    }
    if (!flags.empty()) place.InRange("flags size", flags.size(), ops.size(), ops.size());
    builder_.AddOpSequence(ops, flags);
  }

  void ReadRank(int index) {
    const Place place{path_, "ranks", index};
    const ScheduleProto::Rank& rank = proto_.ranks(index);
    RankInfo info;
    info.device =
        static_cast<int32_t>(OrNone(place, "device", rank.has_device(), rank.device(), kMaxInt32));
    info.stage =
        static_cast<int16_t>(OrNone(place, "stage", rank.has_stage(), rank.stage(), kMaxInt16));
    info.replica = static_cast<int16_t>(
        OrNone(place, "replica", rank.has_replica(), rank.replica(), kMaxInt16));
    info.multiplicity =
        static_cast<int32_t>(place.InRange("multiplicity", rank.multiplicity(), 1, kMaxInt32));
    builder_.AddRank(info);
  }

  void ReadLane(int index) {
    const Place place{path_, "lanes", index};
    const ScheduleProto::Lane& lane = proto_.lanes(index);
    LaneInfo info;
    info.rank = static_cast<int32_t>(
        OrNone(place, "rank", lane.has_rank(), lane.rank(), proto_.ranks_size() - 1));
    info.kind =
        static_cast<LaneKind>(place.InRange("kind", lane.kind(), 0, ScheduleProto::LaneKind_MAX));
    builder_.AddLane(info);
  }

  void ReadCommunicator(int index) {
    const Place place{path_, "communicators", index};
    DeviceGroups groups;
    for (const ScheduleProto::DeviceGroup& group : proto_.communicators(index).groups()) {
      place.InRange("groups.devices size", group.devices_size(), 1, kMaxInt32);
      for (const int32_t device : group.devices()) {
        place.InRange("groups.devices", device, 0, kMaxInt32);
      }
      groups.emplace_back(group.devices().begin(), group.devices().end());
    }
    place.InRange("groups size", static_cast<int64_t>(groups.size()), 1, kMaxInt32);
    builder_.AddCommunicator(std::move(groups));
  }

  Tag ReadTag(const Place& place, const ScheduleProto::Task& task) const {
    Tag tag;
    tag.rank = static_cast<int32_t>(
        OrNone(place, "rank", task.has_rank(), task.rank(), proto_.ranks_size() - 1));
    tag.stage =
        static_cast<int16_t>(OrNone(place, "stage", task.has_stage(), task.stage(), kMaxInt16));
    tag.chunk =
        static_cast<int16_t>(OrNone(place, "chunk", task.has_chunk(), task.chunk(), kMaxInt16));
    tag.micro_batch = static_cast<int32_t>(
        OrNone(place, "micro_batch", task.has_micro_batch(), task.micro_batch(), kMaxInt32));
    tag.phase =
        static_cast<Phase>(place.InRange("phase", task.phase(), 0, ScheduleProto::Phase_MAX));
    tag.segment = static_cast<uint8_t>(place.InRange("segment", task.segment(), 0, kMaxUint8));
    return tag;
  }

  void ReadTask(int index) {
    const Place place{path_, "tasks", index};
    const ScheduleProto::Task& task = proto_.tasks(index);
    task_lanes_.clear();
    for (const int32_t value : task.lanes()) {
      place.InRange("lanes", value, 0, proto_.lanes_size() - 1);
      task_lanes_.push_back(Lane{value});
    }
    sorted_lanes_ = task_lanes_;
    std::sort(sorted_lanes_.begin(), sorted_lanes_.end());
    const auto twice = std::adjacent_find(sorted_lanes_.begin(), sorted_lanes_.end());
    if (twice != sorted_lanes_.end()) {
      place.Fail("lanes", Index(*twice), "every lane at most once");
    }
    const OpSequenceId op_sequence = static_cast<OpSequenceId>(
        OrNone(place, "block", task.has_block(), task.block(), proto_.blocks_size() - 1));
    const TaskId added = builder_.Add(task_lanes_, {}, op_sequence, ReadTag(place, task));
    const int64_t communicator = OrNone(place, "communicator", task.has_communicator(),
                                        task.communicator(), proto_.communicators_size() - 1);
    builder_.SetCommunicator(added, static_cast<int32_t>(communicator));
  }

  void ReadSuccessors(int index) {
    const Place place{path_, "tasks", index};
    for (const TaskId next : proto_.tasks(index).successors()) {
      place.InRange("successors", next, 0, proto_.tasks_size() - 1);
      if (next == index) place.Fail("successors", next, "another task");
      builder_.AddDependency(index, next);
    }
  }

  const ScheduleProto& proto_;
  std::string_view path_;
  Schedule::Builder builder_;
  std::vector<Lane> task_lanes_, sorted_lanes_;
};

void WriteTag(const Tag& tag, ScheduleProto::Task* proto) {
  if (tag.rank >= 0) proto->set_rank(tag.rank);
  if (tag.stage >= 0) proto->set_stage(tag.stage);
  if (tag.chunk >= 0) proto->set_chunk(tag.chunk);
  if (tag.micro_batch >= 0) proto->set_micro_batch(tag.micro_batch);
  proto->set_phase(static_cast<ScheduleProto::Phase>(tag.phase));
  proto->set_segment(tag.segment);
}

void WriteRank(const RankInfo& rank, ScheduleProto::Rank* proto) {
  if (rank.device >= 0) proto->set_device(rank.device);
  if (rank.stage >= 0) proto->set_stage(rank.stage);
  if (rank.replica >= 0) proto->set_replica(rank.replica);
  proto->set_multiplicity(rank.multiplicity);
}

void WriteLanes(const Schedule& schedule, ScheduleProto* proto) {
  const int described = static_cast<int>(schedule.lane_infos().size());
  for (int lane = 0; lane < std::max(described, schedule.lane_count()); ++lane) {
    const LaneInfo info = lane < described ? schedule.lane_infos()[lane] : LaneInfo();
    ScheduleProto::Lane* out = proto->add_lanes();
    if (info.rank >= 0) out->set_rank(info.rank);
    out->set_kind(static_cast<ScheduleProto::LaneKind>(info.kind));
  }
}

void WriteTask(const Schedule& schedule, TaskId task, ScheduleProto::Task* proto) {
  for (const Lane lane : schedule.lanes(task)) proto->add_lanes(Index(lane));
  for (const TaskId next : schedule.successors(task)) proto->add_successors(next);
  if (schedule.op_sequence(task) >= 0) proto->set_block(schedule.op_sequence(task));
  if (schedule.communicator(task) >= 0) proto->set_communicator(schedule.communicator(task));
  WriteTag(schedule.tag(task), proto);
}

}  // namespace

Schedule ScheduleFromProto(const ScheduleProto& proto, std::string_view path) {
  return ScheduleReader(proto, path).Read();
}

ScheduleProto ToProto(const Schedule& schedule) {
  ScheduleProto proto;
  for (const Op& op : schedule.distinct_ops()) *proto.add_ops() = ToProto(op);
  for (OpSequenceId op_sequence = 0; op_sequence < schedule.op_sequence_count(); ++op_sequence) {
    ScheduleProto::Block* out = proto.add_blocks();
    for (const OpId op : schedule.ops(op_sequence)) out->add_ops(op);
    const auto flags = schedule.flags(op_sequence);
    if (std::any_of(flags.begin(), flags.end(), [](uint8_t flag) { return flag != 0; })) {
      for (const uint8_t flag : flags) out->add_flags(flag);
    }
  }
  for (const RankInfo& rank : schedule.ranks()) WriteRank(rank, proto.add_ranks());
  WriteLanes(schedule, &proto);
  for (const DeviceGroups& groups : schedule.communicators()) {
    ScheduleProto::Communicator* out = proto.add_communicators();
    for (const std::vector<int32_t>& group : groups) {
      out->add_groups()->mutable_devices()->Add(group.begin(), group.end());
    }
  }
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    WriteTask(schedule, task, proto.add_tasks());
  }
  return proto;
}

Timeline TimelineFromProto(const TimelineProto& proto, std::string_view path) {
  const int tasks = proto.start_ns_size();
  if (proto.end_ns_size() != tasks) {
    throw InputError(fmt::format("{}.end_ns: got {} values, want {} as in start_ns", path,
                                 proto.end_ns_size(), tasks));
  }
  if (proto.has_schedule() && proto.schedule().tasks_size() != tasks) {
    throw InputError(fmt::format("{}.schedule.tasks: got {} tasks, want {} as in start_ns", path,
                                 proto.schedule().tasks_size(), tasks));
  }
  std::vector<Duration> start, end;
  start.reserve(tasks);
  end.reserve(tasks);
  for (int task = 0; task < tasks; ++task) {
    if (proto.start_ns(task) < 0) {
      throw InputError(
          fmt::format("{}.start_ns[{}]: got {}, want >= 0", path, task, proto.start_ns(task)));
    }
    if (proto.end_ns(task) < proto.start_ns(task)) {
      throw InputError(fmt::format("{}.end_ns[{}]: got {}, want >= {}, the start", path, task,
                                   proto.end_ns(task), proto.start_ns(task)));
    }
    start.push_back(Duration::Nanoseconds(proto.start_ns(task)));
    end.push_back(Duration::Nanoseconds(proto.end_ns(task)));
  }
  Timeline timeline(std::move(start), std::move(end));
  if (proto.has_fingerprint() && proto.fingerprint() != timeline.Fingerprint()) {
    throw InputError(fmt::format("{}.fingerprint: got {:016x}, want {:016x}, that of the times",
                                 path, proto.fingerprint(), timeline.Fingerprint()));
  }
  return timeline;
}

TimelineProto ToProto(const Timeline& timeline) {
  TimelineProto proto;
  proto.mutable_start_ns()->Reserve(timeline.task_count());
  proto.mutable_end_ns()->Reserve(timeline.task_count());
  for (TaskId task = 0; task < timeline.task_count(); ++task) {
    proto.add_start_ns(timeline.start(task).ns());
    proto.add_end_ns(timeline.end(task).ns());
  }
  proto.set_fingerprint(timeline.Fingerprint());
  return proto;
}

TimelineProto ToProto(const Timeline& timeline, const Schedule& schedule) {
  CHECK(timeline.task_count() == schedule.task_count());
  TimelineProto proto = ToProto(timeline);
  *proto.mutable_schedule() = ToProto(schedule);
  return proto;
}

}  // namespace stagecraft
