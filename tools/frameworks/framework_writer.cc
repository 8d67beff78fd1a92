#include "tools/frameworks/framework_writer.h"

#include <fmt/format.h>

#include "costmodel/check.h"
#include "tools/verb/shell_quoting.h"

namespace stagecraft {
namespace {

std::string Word(const nlohmann::json& value) {
  return ShellQuotedIfNeeded(value.is_string() ? value.get<std::string>() : value.dump());
}

}  // namespace

void RefuseObstacles(const TrainingFramework& framework, const Plan& plan,
                     const Workload& workload) {
  const std::vector<std::string> obstacles = FindObstacles(framework, plan, workload);
  if (!obstacles.empty()) throw InputError(obstacles[0] + ", want a plan without it");
}

std::string LaunchScript(const std::string& program, const OptionList& options,
                         const ProcessCount& processes, const std::vector<std::string>& exports) {
  std::string text = "#!/bin/bash\n# Written by stagecraft export.\n";
  for (const std::string& line : exports) text += "export " + line + "\n";
  text += fmt::format(
      "NODES={}\nGPUS_PER_NODE={}\nNODE_RANK=${{NODE_RANK:-0}}\n"
      "MASTER_ADDR=${{MASTER_ADDR:-localhost}}\nMASTER_PORT=${{MASTER_PORT:-29500}}\n\n"
      "OPTIONS=(\n",
      processes.nodes, processes.per_node);
  for (const auto& [name, value] : options) {
    text += "  --" + name;
    const bool has_one_word = name.find('.') != std::string::npos;
    if (value.is_array() && !has_one_word) {
      for (const nlohmann::json& one : value) text += " " + Word(one);
    } else if (!value.is_boolean() || has_one_word) {
      text += " " + Word(value);
    }
    text += '\n';
  }
  text += fmt::format(
      ")\n\ntorchrun --nnodes $NODES --nproc-per-node $GPUS_PER_NODE --node-rank $NODE_RANK \\\n"
      "  --master-addr $MASTER_ADDR --master-port $MASTER_PORT \\\n  {} \"${{OPTIONS[@]}}\"\n",
      program);
  return text;
}

}  // namespace stagecraft
