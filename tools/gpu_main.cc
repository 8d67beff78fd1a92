// stagecraft with only the verbs that need a GPU and those that judge a run, for machines that have
// a GPU and little else.
#include <iostream>

#include "tools/verb/command.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const stagecraft::Args words(argv + 1, argv + argc);
  using namespace stagecraft;
  constexpr Command kCommands[] = {
      {"Measure and learn", "profile", "ops measured on a GPU or a host: samples for fit",
       RunProfile},
      {"Measure and learn", "fit", "a cost model from measured samples, or adapted to a site",
       RunFit},
      {"Measure and learn", "run", "a plan's step on real devices: its measured timeline", RunRun},
      {"Measure and learn", "compare", "a measured step or network beside its prediction",
       RunCompare},
      {"Predict", "simulate", "the step of one plan on one cluster: time, memory, trace",
       RunSimulate},
      {"Files", "import", "a cluster file of this machine's GPUs, or from what other tools print",
       RunImport}};
  constexpr const char* kExample =
      "  stagecraft profile --device cuda:0 -o samples.csv\n"
      "  stagecraft import local-gpu --parts 2 -o halves.json\n"
      "  stagecraft run --executor cuda --model gpt2-tiny --cluster halves.json --pp 2 \\\n"
      "      --global-batch 8 --seq 128 -o measured.pb\n";
  return RunOneOf(kCommands, kExample, words, std::cin, std::cout, std::cerr);
}
