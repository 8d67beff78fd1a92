// How long the partitioners take on the instances that are published with them.
// Needs $STAGECRAFT_SHARED; without it the instances report an error.

#include <benchmark/benchmark.h>

#include <map>
#include <string>

#include "costmodel/shared_csv.h"
#include "costmodel/units.h"
#include "search/partition/antichain_states.h"
#include "search/partition/pipedream.h"
#include "search/partition/timed_graph.h"
#include "sim/graph_txt.h"

namespace stagecraft {
namespace {

// Its profile to its partition, as PipeDream's program times itself. The
// bandwidths are those of its published results.
void BM_PipeDream(benchmark::State& state, const std::string& network, int inner, int outer) {
  if (!HasSharedData()) {
    state.SkipWithError(kNoSharedData);
    return;
  }
  const std::string path = SharedDataPath("planning/pipedream/graphs/" + network + "/graph.txt");
  const ProfiledGraph profile = ReadProfiledGraph(path);
  const PipeDreamOptions options{.levels = {{inner, Bandwidth(8e9)}, {outer, Bandwidth(1.25e9)}},
                                 .activation_compression = 1.0};
  int states = 0;
  for (auto _ : state) {
    const AntichainStates antichains = FindAntichainStates(ToTimedGraph(profile, network));
    const PipeDreamPartition partition = SolvePipeDream(antichains, options);
    benchmark::DoNotOptimize(partition.bottleneck_s);
    states = antichains.size();
  }
  state.counters["states"] = states;
}
BENCHMARK_CAPTURE(BM_PipeDream, vgg16_on_4_4, "vgg16", 4, 4)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_PipeDream, resnet50_on_4_4, "resnet50", 4, 4)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_PipeDream, resnet50_on_8_2, "resnet50", 8, 2)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_PipeDream, gnmt_large_on_4_4, "gnmt_large", 4, 4)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_PipeDream, gnmt_large_on_8_2, "gnmt_large", 8, 2)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stagecraft

BENCHMARK_MAIN();
