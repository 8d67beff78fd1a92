#include "tools/verb/command.h"

#include <istream>
#include <ostream>

namespace stagecraft {

const std::vector<Command>& Commands() {
  static const std::vector<Command> commands = {
      {"Predict", "simulate", "the step of one plan on one cluster: time, memory, trace",
       RunSimulate},
      {"Predict", "explain", "what a step waits for; how the steps of two plans differ",
       RunExplain},
      {"Predict", "whatif", "what changes of the cluster, the plan or prices do to a step",
       RunWhatIf},
      {"Predict", "train", "a run over time: networks that change, clusters that fail", RunTrain},
      {"Search", "search", "the best plans for training a network on a cluster", RunSearch},
      {"Search", "partition", "an operator graph cut into stages, as published planners do",
       RunPartition},
      {"Search", "sweep", "every point of a grid of flags: results in a database", RunSweep},
      {"Search", "merge", "databases of the shards of a sweep, joined", RunMerge},
      {"Measure and learn", "run", "a plan's step on real devices: its measured timeline", RunRun},
      {"Measure and learn", "profile", "ops measured on a GPU or a host: samples for fit",
       RunProfile},
      {"Measure and learn", "fit", "a cost model from measured samples, or adapted to a site",
       RunFit},
      {"Measure and learn", "evaluate", "how wrong cost models are on samples they never saw",
       RunEvaluate},
      {"Measure and learn", "compare", "a measured step or network beside its prediction",
       RunCompare},
      {"Measure and learn", "validate", "predictions beside measured steps, published or your own",
       RunValidate},
      {"Files", "import", "a cluster file from what other tools print, or for this machine",
       RunImport},
      {"Files", "export", "a plan, or its pipeline schedule, for other programs", RunExport},
      {"Files", "catalogue", "the GPUs, nodes, networks and stacks that names stand for",
       RunCatalogue},
      {"Files", "report", "a page with charts of what another verb has answered", RunReport},
      {"Files", "check", "what files are, and whether they are sound", RunCheck},
      {"Files", "completion", "a script with which bash or zsh completes command lines",
       RunCompletion},
  };
  return commands;
}

int RunCommandLine(const Args& words, std::istream& in, std::ostream& out, std::ostream& err) {
  constexpr const char* kExample =
      "  stagecraft simulate --model llama3-70b --cluster h100-sxm:8x8 --tp 8 --pp 4 \\\n"
      "      --micro-batch 1 --global-batch 512 --seq 8192\n"
      "  stagecraft search --model llama3-70b --cluster h100-sxm:8x8 \\\n"
      "      --global-batch 512 --seq 8192 --top 3\n";
  return RunOneOf(Commands(), kExample, words, in, out, err);
}

}  // namespace stagecraft
