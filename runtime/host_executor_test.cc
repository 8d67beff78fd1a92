// Whether messages between two real processes make progress during a long op. The test starts
// itself again under mpirun.
#include "runtime/host_executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <span>
#include <thread>
#include <vector>

#include "costmodel/link.h"
#include "costmodel/op.h"
#include "costmodel/units.h"
#include "runtime/mpi_world.h"
#include "runtime/rank_launcher.h"
#include "runtime/rank_testing.h"
#include "runtime/rank_work.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Rank 0 computes, then sends; rank 1 computes, and does not wait for the message.
Schedule MessageBesideAnOp() {
  Schedule::Builder builder;
  for (int r = 0; r < 2; ++r) builder.AddRank({.device = r});
  const Lane first = builder.AddLane({0, LaneKind::kCompute});
  const Lane out = builder.AddLane({0, LaneKind::kSendNext});
  const Lane second = builder.AddLane({1, LaneKind::kCompute});
  const OpId computed = builder.AddOp(Op::Elementwise(Bytes(64)));
  const Fabric pair{.ranks = 2, .nodes = 1, .ranks_per_node = 2, .intra = {}, .inter = {}};
  const OpId sent = builder.AddOp(Op::Collective(OpKind::kSendRecv, Bytes(64), pair));
  const OpSequenceId computes = builder.AddOpSequence({&computed, 1});
  const TaskId before = builder.Add({&first, 1}, {}, computes, Tag());
  const std::vector<TaskId> waits = {before};
  Tag tag;
  tag.phase = Phase::kSendForward;
  const TaskId send = builder.Add({&out, 1}, waits, builder.AddOpSequence({&sent, 1}), tag);
  builder.SetCommunicator(send, builder.AddCommunicator({{0, 1}}));
  builder.Add({&second, 1}, {}, computes, Tag());
  return builder.Build();
}

// The op of rank 0 lasts until that of rank 1 has surely begun, and the op of rank 1 until the
// message has arrived.
class WaitingWork : public RankWork {
 public:
  explicit WaitingWork(int rank) : rank_(rank) {}
  void Run(TaskId, int) override {
    if (rank_ == 0) return std::this_thread::sleep_for(milliseconds(100));
    const auto end = std::chrono::steady_clock::now() + seconds(20);
    while (!has_message_ && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    came_meanwhile_ = has_message_.load();
  }
  std::span<float> Buffer(TaskId, int) override { return {buffer_, 16}; }
  void Receive(TaskId) override { has_message_ = true; }
  bool came_meanwhile() const { return came_meanwhile_; }

 private:
  const int rank_;
  float buffer_[16] = {};
  std::atomic<bool> has_message_ = false, came_meanwhile_ = false;
};

int RunRank() {
  MpiWorld world;
  WaitingWork work(world.rank());
  HostExecutor(world, work).Execute(MessageBesideAnOp());
  return world.rank() == 0 || work.came_meanwhile() ? 0 : 1;
}

TEST(HostExecutorTest, AMessageComesWhileALongOpIsComputed) {
  const LaunchEnd end = LaunchSelf(2);
  EXPECT_EQ(end.exit_code, 0) << end.death;
}

}  // namespace
}  // namespace stagecraft

int main(int argc, char** argv) {
  return stagecraft::RunRankOrTests(argc, argv, stagecraft::RunRank);
}
