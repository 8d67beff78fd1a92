// OrderFlags: which pass a stage runs when, on a command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "sim/plan/plan.h"

namespace stagecraft {

class OrderFlags {
 public:
  // Registers the flags and returns them; the object must outlive the parse.
  std::vector<CLI::Option*> Register(CLI::App& app);

  // In place of --schedule's default.
  void UseSchedule(const std::string& name) { schedule_ = name; }

  // Sets the order of `degrees`, whose other fields stand already; with a file its
  // chunks too. Throws InputError naming the flag or file at fault.
  void Apply(PlanDegrees& degrees) const;

 private:
  bool IsGiven(const CLI::Option* option) const { return option->count() > 0; }
  void CheckUse(PipelineOrder order) const;
  void CheckNumbers(const PlanDegrees& degrees) const;
  void ApplyFile(PlanDegrees& degrees) const;

  std::string schedule_ = "1f1b", warmup_ = "a", file_;
  OrderOptions options_;
  bool two_forwards_ = false, vertical_sync_ = false, published_search_ = false;
  CLI::Option *schedule_option_ = nullptr, *group_option_ = nullptr, *warmup_option_ = nullptr,
              *limit_option_ = nullptr, *slots_option_ = nullptr, *vertical_option_ = nullptr,
              *search_option_ = nullptr;
};

}  // namespace stagecraft
