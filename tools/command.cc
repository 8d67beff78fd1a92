#include "tools/verb/command.h"

#include <istream>
#include <ostream>

namespace stagecraft {

const std::vector<Command>& Commands() {
  static const std::vector<Command> commands = {
      {"simulate", "one plan on one cluster: step time, breakdown, memory, trace", RunSimulate},
      {"explain", "what a step waits for, why devices idle; two plans: their difference",
       RunExplain},
      {"search", "best plans for a workload on a cluster", RunSearch},
      {"partition", "an operator graph cut into stages, as published planners do it", RunPartition},
      {"profile", "ops measured on a GPU: samples for fit and evaluate", RunProfile},
      {"fit", "measured samples to a cost model, or one calibrated for a site", RunFit},
      {"evaluate", "cost models against held-out measured samples: error tables", RunEvaluate},
      {"compare", "a measured step, or network, against what was predicted", RunCompare},
      {"run", "a plan's step on real processors: its measured timeline", RunRun},
      {"validate", "published or own measurements against predictions", RunValidate},
      {"import", "cluster files: what other tools print, or this machine's GPUs", RunImport},
      {"export", "the schedule of a plan for other programs, or all of the plan", RunExport},
      {"catalogue", "the GPUs, nodes and models that names stand for", RunCatalogue},
      {"check", "whether a file is one of ours, and sound", RunCheck},
  };
  return commands;
}

int RunCommandLine(const Args& words, std::istream& in, std::ostream& out, std::ostream& err) {
  constexpr const char* kExample =
      "  stagecraft simulate --model llama3-70b --cluster h100-sxm:8x8 --tp 8 --pp 4 \\\n"
      "      --micro-batch 1 --global-batch 512 --seq 8192\n";
  return RunOneOf(Commands(), kExample, words, in, out, err);
}

}  // namespace stagecraft
