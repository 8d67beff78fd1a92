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
  std::vector<char> uses_device;  // It is empty if the plan uses all devices.
  int devices = 0;                // The number of devices of the plan.
};

class SimulatedRun {
 public:
  // The setup and the memo must outlive the run.
  SimulatedRun(const RunSetup& setup, StepMemo* memo, Random random, bool keeps_phases);

  // Simulates the run, or throws as SimulateRun() does. May be called once.
  void Simulate();
  // Returns what was simulated until now. `stopped` is History::stopped. May be called once.
  History TakeHistory(const std::string& stopped);

 private:
  static constexpr const char* kNeverRuns = "the plan does not run even on the whole cluster";

  struct Write {  // An asynchronous checkpoint that is not complete.
    int64_t step = 0;
    Duration end;
    Duration since;  // The value of since_ when it was begun.
  };
  struct Stop {
    int64_t step = 0;
    bool is_before_leaving = false;  // A checkpoint is due before a device leaves.
  };
  // What the run goes on with.
  struct Choice {
    ClusterState state;
    RunningStep step;
    Duration move;
    bool is_replanned = false;
  };

  // How the run computes, in simulated_run.cc.
  void Compute();
  void UpdateNetwork();
  void UpdateStep();
  void PayForChange();
  void Advance(Duration stop);
  Stop NextStop() const;
  Stop CheckpointBeforeLeaving() const;
  Stop RegularCheckpoint() const;
  void WriteCheckpoint(bool is_before_leaving);
  void FinishWrite();
  void AbortWrite();
  void TakeEvents();
  bool Spend(PhaseKind kind, Duration length, const std::string& reason);
  void RecordUntil(PhaseKind kind, Duration end, const std::string& reason);
  void Stall();
  void CountTurn();

  // What events change, in run_events.cc.
  std::optional<ClusterEvent> PopTime();
  void Take(const ClusterEvent& event);
  void NoteChange(const ClusterEvent& event);
  ClusterState Joined(const ClusterState& state) const;
  void Break(const ClusterEvent* event);
  std::optional<int> DeadLink() const;
  std::string Cause() const;
  std::string Reason(std::string_view before) const;
  [[noreturn]] void GiveUp(const std::string& why) const;

  // How it recovers, in run_recovery.cc.
  void Recover();
  Choice AwaitRunnable();
  std::optional<Choice> Choose(const ClusterState& state);
  bool MayKeepState() const;
  bool StateIsHeld();
  void LoseState();
  bool SwapNodes();
  void Pass(PhaseKind kind, Duration end, const std::string& reason);
  void WaitForEvent();
  void Regroup();
  void Rejoin(Choice choice, const std::string& reason);
  bool Grows();
  bool Gains(const Choice& choice);
  std::vector<int> DevicesOff();
  Duration MoveTo(const Choice& choice) const;
  void Run(const ClusterState& state);

  const RunSpec& spec_;
  const RunSetup& setup_;
  StepMemo* memo_;
  ClusterHealth health_;
  EventFeed feed_;
  HistoryRecorder recorder_;
  Duration now_;
  int64_t turns_ = 0;              // The decisions and events that were simulated.
  int64_t turns_at_progress_ = 0;  // The value when high_ last rose.

  int64_t step_ = 0;   // The steps that are complete.
  int64_t high_ = 0;   // The most that were ever complete.
  int64_t saved_ = 0;  // The steps of the last complete checkpoint.
  Duration since_;     // The computing time since the last checkpoint was begun.
  std::optional<Write> writing_;
  Duration leaving_served_ = Duration::Min();  // The departure that has its checkpoint.

  // The step in progress: its share spent_ / pace_ is done.
  Duration spent_;
  Duration pace_;
  Duration partial_;          // The time that it has taken, at any pace.
  Duration partial_slowing_;  // The part of this that checkpoints cost.

  ClusterState running_;     // What steps run in; it may lag behind health_ until a step ends.
  bool is_pending_ = false;  // It lags behind.
  int network_ = 0;
  const StepChange* owed_ = nullptr;  // The change that the run has reached and not yet paid for.
  bool is_stale_ = true;              // The steps that were looked up are those of another state.
  std::optional<RunningStep> step_here_;
  Duration useful_step_;  // The time of a step on the whole cluster.
  Duration plan_move_;    // What the move to the present plan took; zero for the original plan.
  std::string step_reason_;

  bool is_broken_ = false;
  bool is_noticed_ = false;  // What broke it needs no detection.
  std::optional<ClusterEvent> cause_;
  int spares_ = 0;
  bool is_rejoining_ = false;       // A failure has happened, or devices join; no step runs yet.
  bool is_state_lost_ = false;      // The devices have to load the last checkpoint.
  std::vector<int> without_state_;  // The devices that lack the state of step_, ascending.
};

}  // namespace stagecraft
