// Runs the plan that flags name, and another one where the GPUs here do not do what it leaves open.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline_record.h"
#include "tools/flags/plan_flags.h"
#include "tools/flags/planned_job.h"
#include "tools/run/run_request.h"
#include "tools/verb/command.h"

namespace stagecraft {

// A job and the schedule that is run of it.
struct LoweredJob {
  PlannedJob job;
  Schedule schedule;
};

// Builds the job that flags describe and lowers it; the cost model chooses pipeline schedules that
// the plan leaves open. Throws InputError, also for a plan that no executor runs.
LoweredJob LowerJob(const PlanFlags& flags, const CostModel& model);

struct RunOfPlan {
  LoweredJob lowered;                    // what ran
  std::optional<TimelineRecord> record;  // none: another process prints and writes it
  std::vector<std::string> notes;        // how that differs from what flags say, a sentence each
};

// On CPU cores of this host (RunOnHost), as ranks that are processes.
RunOfPlan RunPlanOnHost(const PlanFlags& flags, const CostModel& model, const RunRequest& request,
                        std::ostream& err);

// On GPUs (RunOnGpus). Where their library refuses the plan's fused attention and no flag asks for
// it, one process runs the job again with unfused attention, says so in a note and in the
// measurement's software. Otherwise throws InputError, as it does for all that RunOnGpus refuses.
RunOfPlan RunPlanOnGpus(const PlanFlags& flags, const CostModel& model, const RunRequest& request,
                        const Args& args, std::ostream& out, std::ostream& err);

}  // namespace stagecraft
