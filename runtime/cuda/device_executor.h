// DeviceExecutor: executes training steps of a schedule on the devices of this process's ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "costmodel/units.h"
#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/nccl_world.h"
#include "runtime/cuda/rank_device.h"
#include "runtime/step_times.h"
#include "runtime/stream_program.h"
#include "sim/schedule/executor.h"

namespace stagecraft {

// The host queues a step while a gate holds its streams back, so that devices find their work
// waiting. For a step that is longer than the queues, it opens the gate before everything is
// queued, and from then on records when it queued each piece of work.
class DeviceExecutor : public Executor {
 public:
  // With one process for each rank, `devices` holds one device, and `world` all processes;
  // otherwise it holds the devices of all ranks, and `world` is nullptr. All arguments must outlive
  // the object.
  DeviceExecutor(const Schedule& schedule, const StreamProgram& program,
                 std::span<const std::unique_ptr<RankDevice>> devices, NcclWorld* world);

  // Executes a step that is not measured and waits for no gate, which sets up kernels and
  // connections.
  void Prepare();
  // Executes a step of `schedule`, which must be the one given to the constructor, and the same in
  // every process.
  Timeline Execute(const Schedule& schedule) override;
  // For each step executed so far: how long a stream was ready for work that this process had not
  // queued yet, all such times of the stream together; of the stream that waited longest. Zero if
  // that is less than a thousandth of the step.
  std::span<const Duration> queued_late() const { return queued_late_; }

 private:
  RankDevice& DeviceOf(int32_t stream) const;
  void MakeEvents();
  void BeginStep(bool is_gated);
  void OpenGate();
  bool HasBegun();
  void IssueAll();
  void NoteQueued(size_t command);
  Duration LateBy() const;
  // Queues the command at index `next`, or all members' parts of a collective from there on;
  // returns the number of commands that were queued.
  size_t Issue(size_t next);
  void Record(const StreamCommand& command, RankDevice& device);
  void IssueShares(std::span<const StreamCommand> members);
  void IssueExchange(const StreamCommand& command, RankDevice& device);
  void Count(int32_t stream, int launches);
  void WaitForAll();
  Timeline ReadTimes();
  Duration TimeOf(int32_t event) const;

  const Schedule& schedule_;
  const StreamProgram& program_;
  NcclWorld* const world_;            // nullptr if there is one process
  std::vector<RankDevice*> devices_;  // by rank; nullptr for ranks of other processes
  std::vector<StreamCommand> commands_;
  std::vector<Event> events_;        // by event; empty for events of other processes
  std::vector<int32_t> event_rank_;  // by event, the rank that records it
  // By event, the task whose begin or end it marks; -1: none.
  std::vector<TaskId> begins_, ends_;
  std::vector<Event> origins_;  // by rank: when its step began
  Stream gate_stream_;
  Event gate_opened_;
  struct FreeHost {
    void operator()(int* memory) const { cudaFreeHost(memory); }
  };
  std::unique_ptr<int, FreeHost> gate_;
  bool gate_is_open_ = false;
  std::vector<int> queued_;  // launches by stream, since the gate closed
  int queued_in_all_ = 0;
  // By command: when it was queued, recorded on gate_stream_, which has nothing else to do after
  // the gate. Empty for commands that were never queued after the gate had opened.
  std::vector<Event> when_queued_;
  std::vector<size_t> queued_after_gate_;  // the commands of this step in when_queued_, in order
  std::vector<Duration> queued_late_;
};

}  // namespace stagecraft
