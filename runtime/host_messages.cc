#include "runtime/host_messages.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/op.h"
#include "costmodel/statistics.h"
#include "costmodel/units.h"
#include "runtime/host_executor.h"
#include "runtime/rank_work.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {
namespace {

constexpr int64_t kShortMessage = 1 << 10;
constexpr int64_t kLongMessage = 4 << 20;
constexpr int kMessages = 20;  // round trips of each size

// Messages from rank 0 to rank 1 and back, one after another, and a task of each of the two ranks
// that waits for all of them, so that nothing is computed in the meantime.
struct Messages {
  Schedule schedule;
  std::vector<int64_t> bytes;  // by task

  explicit Messages(int ranks) {
    Schedule::Builder builder;
    for (int r = 0; r < ranks; ++r) builder.AddRank({.device = r});
    const Lane out = builder.AddLane({0, LaneKind::kSendNext});
    const Lane back = builder.AddLane({1, LaneKind::kSendPrevious});
    const Lane computes[] = {builder.AddLane({0, LaneKind::kCompute}),
                             builder.AddLane({1, LaneKind::kCompute})};
    const int32_t there = builder.AddCommunicator({{0, 1}});
    const int32_t here = builder.AddCommunicator({{1, 0}});
    std::vector<TaskId> last;
    for (const int64_t size : {kLongMessage, kShortMessage}) {
      const Fabric pair{.ranks = 2, .nodes = 1, .ranks_per_node = 2, .intra = {}, .inter = {}};
      const OpId op = builder.AddOp(Op::Collective(OpKind::kSendRecv, Bytes(size), pair));
      const OpSequenceId op_sequence = builder.AddOpSequence({&op, 1});
      for (int i = 0; i < 2 * kMessages; ++i) {
        const bool returns = i % 2 == 1;
        Tag tag;
        tag.phase = returns ? Phase::kSendBackward : Phase::kSendForward;
        const Lane lane = returns ? back : out;
        const TaskId task = builder.Add({&lane, 1}, last, op_sequence, tag);
        builder.SetCommunicator(task, returns ? here : there);
        bytes.push_back(size);
        last = {task};
      }
    }
    for (const Lane lane : computes) builder.Add({&lane, 1}, last, -1, Tag());
    bytes.resize(bytes.size() + std::size(computes));
    schedule = builder.Build();
  }
};

class MessageBuffers : public RankWork {
 public:
  explicit MessageBuffers(const Messages& messages)
      : messages_(messages), buffer_(kLongMessage / sizeof(float)) {}
  void Run(TaskId, int) override {}
  std::span<float> Buffer(TaskId task, int) override {
    return {buffer_.data(), messages_.bytes[task] / sizeof(float)};
  }

 private:
  const Messages& messages_;
  std::vector<float> buffer_;
};

}  // namespace

Link MeasureMessages(MpiWorld& world) {
  CHECK(world.size() >= 2);
  const Messages messages(world.size());
  MessageBuffers buffers(messages);
  HostExecutor executor(world, buffers);
  executor.Execute(messages.schedule);  // touches the memory and makes the connections
  const Timeline timeline = executor.Execute(messages.schedule);
  const auto median = [&](int64_t size) {
    std::vector<double> seconds;
    for (TaskId task = 0; task < messages.schedule.task_count(); ++task) {
      if (messages.bytes[task] != size) continue;
      seconds.push_back((timeline.end(task) - timeline.start(task)).seconds());
    }
    return Median(seconds);
  };
  const double latency = median(kShortMessage);
  const double longer = std::max(median(kLongMessage) - latency, 1e-6);
  const double rate = static_cast<double>(kLongMessage) / longer;
  return {LinkKind::kHost, Duration::Seconds(latency), Bandwidth(rate)};
}

}  // namespace stagecraft
