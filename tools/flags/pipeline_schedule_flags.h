// PipelineScheduleFlags: which pass a stage runs when, on a command line.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/plan.h"
#include "tools/verb/flags.h"

namespace stagecraft {

class PipelineScheduleFlags {
 public:
  // Registers the flags and returns them; `chunks` is what --vpp says. The object, and `chunks`,
  // must outlive the parse.
  std::vector<Flag> Register(Flags& flags, int& chunks);

  // In place of --schedule's default.
  void UseSchedule(const std::string& name) { schedule_ = name; }

  // Sets the order of `degrees`, whose other fields stand already; with a file its
  // chunks too. Throws InputError naming the flag or file at fault.
  void Apply(PlanDegrees& degrees) const;

 private:
  void RegisterOptions(FlagGroup schedule);
  void CheckUse(PipelineSchedule schedule) const;
  void CheckNumbers(const PlanDegrees& degrees) const;
  void ApplyFile(PlanDegrees& degrees) const;

  std::string schedule_ = "1f1b", warmup_ = "a", file_;
  PipelineScheduleOptions options_;
  bool two_forwards_ = false, vertical_sync_ = false, published_search_ = false;
  Flag schedule_option_, group_option_, warmup_option_, limit_option_, slots_option_,
      vertical_option_, search_option_;
};

}  // namespace stagecraft
