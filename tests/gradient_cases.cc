#include "tests/gradient_cases.h"

#include <fmt/format.h>

#include <numeric>

#include "sim/pipeline/pipeline_schedule.h"
#include "sim/step/plan_pass_orders.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"

namespace stagecraft {

std::vector<GradientCase> GradientCases(int ranks) {
  std::vector<GradientCase> cases;
  for (const PipelineSchedule schedule : NamedPipelineSchedules()) {
    if (IsAsynchronous(schedule)) continue;
    for (int replicas = 1; replicas <= ranks; ++replicas) {
      if (ranks % replicas != 0) continue;
      for (const int chunks : {LeastChunks(schedule), LeastChunks(schedule) + 1}) {
        const int stages = ranks / replicas;
        if (!FindChunkError(schedule, PlacementOf(schedule), stages, chunks).empty()) continue;
        for (const bool overlaps : {false, true}) {
          if (overlaps && replicas == 1) continue;
          PlanDegrees degrees = Degrees(1, stages);
          degrees.schedule = schedule;
          degrees.chunks = chunks;
          degrees.micro_batch = 1;
          degrees.global_batch = 8 * replicas;
          degrees.zero = 0;
          degrees.overlap_grad_reduce = overlaps;
          cases.push_back({fmt::format("{} pp {} vpp {} dp {}{}", Name(schedule), stages, chunks,
                                       replicas, overlaps ? " overlapped" : ""),
                           degrees});
        }
      }
    }
  }
  // Stages with unequal numbers of replicas.
  for (const std::vector<int>& replicas : {std::vector<int>{2, 1}, {1, 2}, {1, 2, 1}, {3, 1}}) {
    if (std::accumulate(replicas.begin(), replicas.end(), 0) != ranks) continue;
    for (const PipelineSchedule schedule : NamedPipelineSchedules()) {
      const bool is_refused = TraitsOf(schedule).unequal_replicas == UnequalReplicas::kRefused;
      if (is_refused || IsAsynchronous(schedule)) continue;
      PlanDegrees degrees = Degrees(1, static_cast<int>(replicas.size()));
      degrees.schedule = schedule;
      degrees.micro_batch = 1;
      degrees.global_batch = 12;
      degrees.zero = 0;
      degrees.stage_replicas = replicas;
      cases.push_back(
          {fmt::format("{} replicas {}", Name(schedule), fmt::join(replicas, "-")), degrees});
    }
  }
  return cases;
}

Workload GradientWorkload() {
  const DecoderConfig config = SizedDecoder("llama", {.layers = kGradientLayers,
                                                      .hidden = 256,
                                                      .heads = 8,
                                                      .ffn = 512,
                                                      .vocab = 1024,
                                                      .max_sequence = 512});
  return BuildDecoder(config, AttentionBackend::kFlash, "untied");
}

}  // namespace stagecraft
