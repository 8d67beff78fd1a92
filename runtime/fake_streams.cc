#include "runtime/fake_streams.h"

#include <algorithm>

namespace stagecraft {

FakeStreams::FakeStreams(const StreamProgram& program, Processes processes, Queues queues)
    : program_(program), is_one_process_(processes == Processes::kOne) {
  queues_.resize(queues == Queues::kOneAStream ? program.streams.size()
                 : is_one_process_             ? 1
                                               : program.ranks.size());
  for (const StreamCommand& command : program.commands) {
    const int32_t rank = program.streams[command.stream].rank;
    const int32_t queue = queues == Queues::kOneAStream ? command.stream
                          : is_one_process_             ? 0
                                                        : rank;
    queues_[queue].push_back(command);
  }
}

// Checks the events in the order in which a process queues its commands.
std::string FakeStreams::FindUnrecorded() const {
  std::vector<int32_t> owner(program_.events, -1);
  for (const StreamCommand& command : program_.commands) {
    const int32_t rank = program_.streams[command.stream].rank;
    const std::string event = "event " + std::to_string(command.event);
    if (command.kind == CommandKind::kRecord) {
      if (owner[command.event] >= 0) return event + " is recorded twice";
      owner[command.event] = rank;
    }
    if (command.kind != CommandKind::kWait) continue;
    if (owner[command.event] < 0) return event + " is waited for before it is recorded";
    if (!is_one_process_ && owner[command.event] != rank) return event + " is of another process";
  }
  return "";
}

std::vector<size_t> FakeStreams::Together(size_t queue) const {
  const StreamCommand& head = queues_[queue][next_[queue]];
  if (head.kind == CommandKind::kWait) {
    return recorded_[head.event] < 0 ? std::vector<size_t>() : std::vector{queue};
  }
  if (head.group < 0 || is_one_process_) return {queue};
  std::vector<size_t> met;
  for (size_t other = 0; other < queues_.size(); ++other) {
    if (next_[other] == queues_[other].size()) continue;
    if (queues_[other][next_[other]].group == head.group) met.push_back(other);
  }
  return met.size() == program_.groups[head.group].ranks.size() ? met : std::vector<size_t>();
}

std::string FakeStreams::Execute(Random random, const Run& run) {
  if (std::string wrong = FindUnrecorded(); !wrong.empty()) return wrong;
  next_.assign(queues_.size(), 0);
  recorded_.assign(program_.events, -1);
  for (int now = 0;; ++now) {
    const size_t first =
        static_cast<size_t>(random.Integer(0, static_cast<int64_t>(queues_.size()) - 1));
    std::vector<size_t> together;
    size_t ended = 0;
    for (size_t i = 0; i < queues_.size() && together.empty(); ++i) {
      const size_t queue = (first + i) % queues_.size();
      if (next_[queue] == queues_[queue].size()) {
        ++ended;
      } else {
        together = Together(queue);
      }
    }
    if (ended == queues_.size()) return "";
    if (together.empty()) return "nothing can go on after " + std::to_string(now) + " commands";
    std::vector<StreamCommand> commands;
    for (const size_t queue : together) {
      commands.push_back(queues_[queue][next_[queue]++]);
      if (commands.back().kind == CommandKind::kRecord) recorded_[commands.back().event] = now;
    }
    run(commands);
  }
}

}  // namespace stagecraft
