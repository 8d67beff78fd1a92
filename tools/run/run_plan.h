// Runs the plan that flags describe; if this machine's GPUs refuse its fused attention and no flag
// asks for that, runs it with unfused attention.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/units.h"
#include "sim/job/history.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline_record.h"
#include "tools/flags/plan_flags.h"
#include "tools/flags/planned_job.h"
#include "tools/run/fault_flags.h"
#include "tools/run/measured_run.h"
#include "tools/run/run_request.h"
#include "tools/verb/command.h"

namespace stagecraft {

// A job and the schedule of its plan.
struct LoweredJob {
  PlannedJob job;
  Schedule schedule;
};

// Builds the job that flags describe and lowers its plan. Where the plan's pipeline schedule
// depends on times, `model` predicts them. Throws InputError, also for a plan that no executor
// runs.
LoweredJob LowerJob(const PlanFlags& flags, const CostModel& model);

struct RunOfPlan {
  LoweredJob lowered;  // what ran
  // No value: another process prints and writes it, or the run was stopped.
  std::optional<TimelineRecord> record = {};
  std::vector<std::string> notes = {};  // how the run differs from what flags say, a sentence each

  // What was asked for by FaultFlags.
  std::vector<double> speeds = {};           // by rank; empty: all at full speed
  std::optional<Duration> predicted = {};    // a step; with slow ranks or a training run
  std::optional<MeasuredRun> measured = {};  // without its record
  std::optional<History> prediction = {};    // of the training run
};

// Runs the plan on CPU cores of this host, with one process for each rank (RunOnHost(),
// MeasureRun()). Throws InputError also for ranks of `faults` that the plan does not have.
RunOfPlan RunPlanOnHost(const PlanFlags& flags, const FaultFlags& faults, const CostModel& model,
                        RunRequest request, std::ostream& err);

// Runs the plan on GPUs (RunOnGpus()). If their library refuses the plan's fused attention, no
// --attention is given and one process runs all ranks, runs the plan again with unfused attention
// and says so in a note and in the measurement's software. In other cases throws InputError, as it
// does for all that RunOnGpus() refuses.
RunOfPlan RunPlanOnGpus(const PlanFlags& flags, const CostModel& model, const RunRequest& request,
                        const Args& args, std::ostream& out, std::ostream& err);

}  // namespace stagecraft
