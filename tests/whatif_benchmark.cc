// Measures how long `whatif` takes to make ten changes of a training step on 1,024 GPUs: the whole
// command, from its words to its table, with the cost model read anew each time.
//
// "rows_per_s" are the steps that are simulated and explained a second; "vs_simulate" is the time
// over that of as many runs of `simulate` in the same process.
#include <benchmark/benchmark.h>

#include <chrono>
#include <iterator>
#include <sstream>
#include <string>

#include "costmodel/check.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

const Args kJob = {"--model", "llama3-70b", "--cluster", "h100-sxm:128x8", "--tp", "8", "--pp",
                   "4",       "--seq",      "8192",      "--global-batch", "1024"};
const char* const kChanges[] = {"network=0.5x", "network=2x",      "links=0.5x", "gpu=h200-sxm",
                                "node3=0.8x",   "global-batch=2x", "seq=32k",    "zero=0",
                                "nodes=2x",     "micro-batch=2"};

double SecondsOf(CommandFunction verb, const Args& args) {
  std::istringstream in;
  std::ostringstream out, err;
  const auto begin = std::chrono::steady_clock::now();
  const int code = verb(args, in, out, err);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  CHECK(code == kExitOk);
  benchmark::DoNotOptimize(out.str().size());
  return seconds.count();
}

void BM_WhatIf(benchmark::State& state) {
  const bool pairs = state.range(0) != 0;
  Args args = kJob;
  for (const char* change : kChanges) args.insert(args.end(), {"--change", change});
  if (pairs) args.emplace_back("--pairs");
  const int64_t count = std::ssize(kChanges);
  // network=0.5x and network=2x are no pair.
  const int64_t rows = 1 + count + (pairs ? count * (count - 1) / 2 - 1 : 0);
  double seconds = 0, alone = 0;
  for (auto _ : state) {
    seconds += SecondsOf(RunWhatIf, args);
    state.PauseTiming();
    alone += static_cast<double>(rows) * SecondsOf(RunSimulate, kJob);
    state.ResumeTiming();
  }
  state.counters["rows_per_s"] = static_cast<double>(rows * state.iterations()) / seconds;
  state.counters["vs_simulate"] = seconds / alone;
}
BENCHMARK(BM_WhatIf)->ArgName("pairs")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stagecraft
