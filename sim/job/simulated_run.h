// SimulatedRun: the state of one run while SimulateRun() simulates it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/random.h"
#include "sim/job/cluster_health.h"
#include "sim/job/event_feed.h"
#include "sim/job/history_recorder.h"
#include "sim/job/job_run.h"
#include "sim/job/step_memo.h"

namespace stagecraft {

// What all histories of a run have in common. `spec` must outlive it.
struct RunSetup {
  explicit RunSetup(const RunSpec& spec);

  const RunSpec& spec;
  Racks racks;
  std::vector<char> uses_device;  // empty: all are used
  int devices = 0;                // of the plan
};

class SimulatedRun {
 public:
  // Both must outlive the run.
  SimulatedRun(const RunSetup& setup, StepMemo* memo, Random random, bool keeps_phases);

  // May be called once.
  History Simulate();

 private:
  struct Write {  // an asynchronous checkpoint that is not complete
    int64_t step = 0;
    Duration end;
  };
  struct Stop {
    int64_t step = 0;
    bool is_before_leaving = false;  // for a checkpoint before a device leaves
  };
  struct Choice {
    Duration move;
    bool has_waited = false;
  };

  // Running, in simulated_run.cc.
  void Compute();
  void UpdateNetwork();
  void UpdateStep();
  void Advance(Duration stop);
  Stop NextStop() const;
  Stop CheckpointBeforeLeaving() const;
  Stop RegularCheckpoint() const;
  void WriteCheckpoint(bool is_before_leaving);
  void FinishWrite();
  void TakeEvents();
  bool Spend(PhaseKind kind, Duration length, const std::string& reason);
  void RecordUntil(PhaseKind kind, Duration end, const std::string& reason);
  void Stall();

  // What events change, and recovery, in run_recovery.cc.
  void Take(const ClusterEvent& event);
  void NoteChange(const ClusterEvent& event);
  bool IsUnaffected(const ClusterState& state);
  void Break(const ClusterEvent* event);
  void Recover();
  Choice AwaitRunnable();
  std::optional<Replanned> Choose(const ClusterState& state);
  bool SwapNodes();
  void Pass(PhaseKind kind, Duration end, const std::string& reason);
  void WaitForEvent();
  void Regroup();
  void Run(const ClusterState& state);
  std::optional<ClusterEvent> PopTime();
  std::optional<int> DeadLink() const;
  std::string Cause() const;
  std::string Reason(const char* before) const;
  [[noreturn]] void GiveUp(const std::string& why) const;

  const RunSpec& spec_;
  const RunSetup& setup_;
  StepMemo* memo_;
  ClusterHealth health_;
  EventFeed feed_;
  HistoryRecorder recorder_;
  Duration now_;
  int64_t events_ = 0;

  int64_t step_ = 0;   // complete
  int64_t high_ = 0;   // the most that were ever complete
  int64_t saved_ = 0;  // of the last complete checkpoint
  Duration since_;     // computing time since the last checkpoint was begun
  std::optional<Write> writing_;
  Duration leaving_served_ = Duration::Min();  // the departure that has its checkpoint

  // The step in progress: its share spent_ / pace_ is done.
  Duration spent_;
  Duration pace_;
  Duration partial_;          // time that it has taken, at any pace
  Duration partial_slowing_;  // of which checkpoints are the cause

  ClusterState running_;     // that steps run in; may lag behind health_ until the end of a step
  bool is_pending_ = false;  // it does
  int network_ = 0;
  bool is_stale_ = true;  // step_here_ and useful_step_ are of another state
  std::optional<RunningStep> step_here_;
  Duration useful_step_;  // on the whole cluster
  std::string step_reason_;

  bool is_broken_ = false;
  bool is_noticed_ = false;  // what broke it needs no detection
  std::optional<ClusterEvent> cause_;
  int spares_ = 0;
};

}  // namespace stagecraft
