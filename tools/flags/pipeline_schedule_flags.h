// PipelineScheduleFlags: the flags that choose a pipeline schedule.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/plan.h"
#include "tools/verb/flags.h"

namespace stagecraft {

class PipelineScheduleFlags {
 public:
  // Registers the flags and returns them; --vpp is stored in `chunks`. The object and `chunks`
  // must outlive the parse.
  std::vector<Flag> Register(Flags& flags, int& chunks);

  // Replaces the default of --schedule; for command lines that do not give it.
  void UseSchedule(const std::string& name) { schedule_ = name; }

  // Sets the pipeline schedule of `degrees`, whose other fields must have been set; --order-file
  // also sets the chunks. Throws InputError that names the flag or file at fault.
  void Apply(PlanDegrees& degrees) const;

 private:
  void RegisterOptions(FlagGroup schedule);
  void CheckUse(PipelineSchedule schedule) const;
  void CheckNumbers(const PlanDegrees& degrees) const;
  void ApplyFile(PlanDegrees& degrees) const;

  std::string schedule_ = "1f1b", warmup_ = "a", file_;
  PipelineScheduleOptions options_;
  bool two_forwards_ = false, vertical_sync_ = false, published_search_ = false,
       overlaps_experts_ = false;
  Flag schedule_option_, group_option_, warmup_option_, limit_option_, slots_option_,
      vertical_option_, search_option_, pairing_option_;
};

}  // namespace stagecraft
