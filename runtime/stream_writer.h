// StreamWriter: adds commands to a StreamProgram, with the streams, groups and events that they
// name.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/stream_program.h"

namespace stagecraft {

class StreamWriter {
 public:
  // The program must outlive it.
  explicit StreamWriter(StreamProgram& program) : program_(program) {}

  // Returns the id of a stream, which is the same for equal infos.
  int32_t StreamOf(const StreamInfo& info) {
    const auto key = std::tuple(info.kind, info.rank, info.lane, info.peer);
    const auto [entry, is_new] =
        streams_.try_emplace(key, static_cast<int32_t>(program_.streams.size()));
    if (is_new) program_.streams.push_back(info);
    return entry->second;
  }
  int32_t GroupOf(const std::vector<int32_t>& ranks, int32_t key) {
    const auto [entry, is_new] =
        groups_.try_emplace({ranks, key}, static_cast<int32_t>(program_.groups.size()));
    if (is_new) program_.groups.push_back({ranks, key});
    return entry->second;
  }
  const StreamInfo& stream(int32_t id) const { return program_.streams[id]; }
  const StreamGroup& group(int32_t id) const { return program_.groups[id]; }

  void Add(const StreamCommand& command) { program_.commands.push_back(command); }
  // Records a new event and returns its id.
  int32_t Record(int32_t stream) {
    recorded_on_.push_back(stream);
    Add({.kind = CommandKind::kRecord, .stream = stream, .event = program_.events});
    return program_.events++;
  }
  // Lets a stream wait for an event, unless the stream itself recorded it and so has passed it.
  void Wait(int32_t stream, int32_t event) {
    if (recorded_on_[event] == stream) return;
    Add({.kind = CommandKind::kWait, .stream = stream, .event = event});
  }
  // Lets each of the streams go on when all of them have reached this point.
  void MeetOn(std::span<const int32_t> streams) {
    std::vector<int32_t> events;
    for (const int32_t stream : streams) events.push_back(Record(stream));
    for (const int32_t stream : streams) {
      for (const int32_t event : events) Wait(stream, event);
    }
  }

 private:
  StreamProgram& program_;
  std::map<std::tuple<StreamKind, int32_t, Lane, int32_t>, int32_t> streams_;
  std::map<std::pair<std::vector<int32_t>, int32_t>, int32_t> groups_;
  std::vector<int32_t> recorded_on_;  // by event
};

}  // namespace stagecraft
