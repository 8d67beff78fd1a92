// Compares the schedules that need no costs, timed by TimeOrders(), with the makespans and peaks in
// flight that the papers' own simulators print. Reads
// $STAGECRAFT_SHARED/data/golden/schedules_golden.json.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "costmodel/shared_csv.h"
#include "costmodel/units.h"
#include "sim/pipeline/chimera.h"
#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/dual_pipe.h"
#include "sim/pipeline/order_times.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {
namespace {

using Json = nlohmann::json;

// One unit of the file: costs in tenths of it, divided by 2, 3 or 4 chunks, are whole numbers of
// nanoseconds.
constexpr double kUnitNs = 12'000;
constexpr double kRoundedTo = 1e-4;  // peaks of interleaved rows have four digits

Duration Units(double value) { return Duration::Nanoseconds(std::llround(value * kUnitNs)); }

struct Pipeline {
  ChunkMap map;
  PassOrders orders;
};

// Returns nothing for families that this test does not cover.
std::vector<Pipeline> PipelineOf(const Json& row) {
  const std::string schedule = row["schedule"];
  const int stages = row["p"];
  const int micro_batches = row["m"];
  const int chunks = row.value("v", 1);
  if (schedule == "chimera(greedy)") {
    return {{ChunkMap::Bidirectional(stages), ChimeraOrders(stages, 1, micro_batches)}};
  }
  if (schedule == "dualpipe") {
    return {{ChunkMap::Bidirectional(stages), DualPipeOrders(stages, micro_batches)}};
  }
  PassOrders orders;
  for (int stage = 0; stage < stages; ++stage) {
    if (schedule == "gpipe") orders.push_back(GpipeOrder(micro_batches));
    if (schedule == "1f1b") {
      orders.push_back(OneForwardOneBackwardOrder(stages - 1 - stage, micro_batches));
    }
    if (schedule == "interleaved-1f1b") {
      orders.push_back(InterleavedOrder(stage, stages, chunks, micro_batches));
    }
  }
  if (orders.empty()) return {};
  return {{ChunkMap::Looped(stages, chunks), orders}};
}

// B of a row includes W; rows without W have whole backwards, whose split makes no difference.
PipelineCosts CostsOf(const Json& row, int chunks) {
  const double forward = row["F"].get<double>() / chunks;
  const double backward = row["B"].get<double>() / chunks;
  const double weight = row.value("W", 0.0) / chunks;
  PipelineCosts costs = UniformCosts(
      row["p"], row["schedule"] == "dualpipe" || row["schedule"] == "chimera(greedy)" ? 2 : chunks,
      {Units(forward), Units(backward - weight), Units(weight)}, Units(row.value("comm", 0.0)));
  if (row.contains("FB")) costs.beside_share = row["FB"].get<double>() / (forward + backward);
  return costs;
}

void ExpectPeaks(const Json& row, const PassOrders& orders, int chunks) {
  for (size_t stage = 0; stage < orders.size(); ++stage) {
    const double peak = static_cast<double>(PeakInFlight(orders[stage])) / chunks;
    if (row.contains("peak_inflight_stage_units")) {
      const double want = row["peak_inflight_stage_units"][stage];
      EXPECT_NEAR(peak, want, kRoundedTo) << "stage " << stage;
    } else if (row.contains("peak_inflight")) {
      const Json& peaks = row["peak_inflight"];
      EXPECT_EQ(peak, peaks.is_array() ? peaks[stage] : peaks) << "stage " << stage;
    }
  }
}

// The idle time of the stage that idles longest.
Duration LongestIdle(const Pipeline& pipeline, const OrderTimes& times) {
  Duration longest;
  for (size_t stage = 0; stage < times.passes.size(); ++stage) {
    Duration busy;
    for (size_t i = 0; i < times.passes[stage].size(); ++i) {
      if (i > 0 && pipeline.orders[stage][i - 1].beside_next) continue;
      busy += times.passes[stage][i].end - times.passes[stage][i].start;
    }
    longest = std::max(longest, times.Makespan() - busy);
  }
  return longest;
}

TEST(GoldenOrdersTest, OrdersTakeThePublishedTimeAndMemory) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  std::ifstream file(std::string(std::getenv("STAGECRAFT_SHARED")) +
                     "/data/golden/schedules_golden.json");
  ASSERT_TRUE(file);
  int rows = 0;
  for (const Json& row : Json::parse(file)) {
    const std::vector<Pipeline> pipeline = PipelineOf(row);
    if (pipeline.empty()) continue;
    SCOPED_TRACE(row.dump());
    ++rows;
    const int chunks = row.value("v", 1);
    const OrderTimes times =
        TimeOrders(pipeline[0].map, pipeline[0].orders, row["m"], CostsOf(row, chunks));
    EXPECT_EQ(times.Makespan(), Units(row["makespan"]));
    if (row.contains("idle_max")) {
      EXPECT_EQ(LongestIdle(pipeline[0], times), Units(row["idle_max"]));
    }
    ExpectPeaks(row, pipeline[0].orders, chunks);
  }
  EXPECT_EQ(rows, 31);
}

}  // namespace
}  // namespace stagecraft
