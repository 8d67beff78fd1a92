// What the writers of launch files share.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/workload.h"
#include "tools/frameworks/framework_table.h"
#include "tools/frameworks/launch_options.h"
#include "tools/frameworks/regular_plan.h"

namespace stagecraft {

// What is to be written. The plan must be one that the framework can run.
struct LaunchJob {
  const Plan& plan;
  const Workload& workload;
  const RegularPlan& regular;
  const DecoderConfig& network;
  std::string model;  // as --model took it
  ProcessCount processes;
};

// A file's text, and what it does not say: differences from what the prediction assumes.
struct LaunchText {
  std::string text;
  std::vector<std::string> notes;
};

// Options in the order in which they are written; a switch is true.
using OptionList = std::vector<std::pair<std::string, nlohmann::json>>;

// Returns the first sentence of FindObstacles() as an InputError, if there is one.
void RefuseObstacles(const TrainingFramework& framework, const Plan& plan,
                     const Workload& workload);

// A bash script that starts `program` by torchrun with these options.
std::string LaunchScript(const std::string& program, const OptionList& options,
                         const ProcessCount& processes, const std::vector<std::string>& exports);

}  // namespace stagecraft
