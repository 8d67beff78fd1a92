// Measures how many points of a grid become rows of a database in a second, by the number of
// threads. The file is written to the folder for temporary files.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "proto/grid.pb.h"
#include "tools/sweep/read_grid.h"
#include "tools/sweep/run_store.h"
#include "tools/sweep/sweep_inputs.h"
#include "tools/sweep/sweep_run.h"

namespace stagecraft {
namespace {

// A GPT-3 of 1.3e9 parameters on 4 to 64 GPUs: 28,800 points.
constexpr const char* kGrid = R"(
flags:
  model: megatron:24x2048x16
  cluster: [a100-sxm4-80gb:1x4, a100-sxm4-80gb:1x8, a100-sxm4-80gb:2x8, a100-sxm4-80gb:4x8,
            a100-sxm4-80gb:8x8]
  seq: [1024, 2048]
  tp: [1, 2, 4, 8]
  pp: {from: 1, to: 8, times: 2}
  micro-batch: {from: 1, to: 8, times: 2}
  global-batch: {from: 128, to: 2048, times: 2}
  zero: [0, 1, 2]
  recompute: [none, selective, full]
  precision: bf16
)";

// Range 0: threads.
void BM_SweepIntoDatabase(benchmark::State& state) {
  GridProto proto;
  ParseProtoText(kGrid, "grid", ".yaml", &proto);
  const Grid grid = GridFrom(proto, "grid");
  const SweepInputs inputs(grid);
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("sweep_benchmark" + std::to_string(getpid()) + ".db"))
                               .string();
  std::vector<int64_t> points(static_cast<size_t>(grid.size()));
  std::iota(points.begin(), points.end(), 0);
  int64_t fit = 0;
  for (auto unused : state) {
    std::filesystem::remove(path);
    RunStore store = RunStore::OpenFor(inputs.record(), path);
    CHECK(
        SweepPoints({grid, inputs, store, points, static_cast<int>(state.range(0)), nullptr, {}}) ==
        grid.size());
    state.PauseTiming();
    fit = 0;
    store.ForEachRow(0, [&](const RunRow& row) { fit += row.outcome == Outcome::kFits; });
    state.ResumeTiming();
  }
  std::filesystem::remove(path);
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * grid.size());
  state.counters["points"] = static_cast<double>(grid.size());
  state.counters["simulated"] = static_cast<double>(fit);
}
BENCHMARK(BM_SweepIntoDatabase)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stagecraft
