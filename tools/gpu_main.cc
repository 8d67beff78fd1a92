// The verbs that need a GPU, and those that judge a run, for machines that have one and little
// else.
#include <iostream>

#include "tools/verb/command.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const stagecraft::Args words(argv + 1, argv + argc);
  using namespace stagecraft;
  constexpr Command kCommands[] = {
      {"profile", "ops measured on a GPU: samples for fit and evaluate", RunProfile},
      {"fit", "a cost model from measured samples, or adapted to a site", RunFit},
      {"import", "cluster files: this machine's GPUs (local-gpu), or what other tools print",
       RunImport},
      {"run", "a plan's step on real processors: its measured timeline", RunRun},
      {"simulate", "one plan on one cluster: step time, breakdown, memory, trace", RunSimulate},
      {"compare", "a measured step, or network, against what was predicted", RunCompare}};
  constexpr const char* kExample =
      "  stagecraft profile --device cuda:0 -o samples.csv\n"
      "  stagecraft import local-gpu --parts 2 -o halves.json\n"
      "  stagecraft run --executor cuda --model gpt2-tiny --cluster halves.json --pp 2 \\\n"
      "      --global-batch 8 --seq 128 -o measured.pb\n";
  return RunOneOf(kCommands, kExample, words, std::cin, std::cout, std::cerr);
}
