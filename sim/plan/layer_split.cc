#include "sim/plan/layer_split.h"

#include <fmt/core.h>

#include <algorithm>

#include "costmodel/check.h"
#include "costmodel/divide.h"
#include "sim/pipeline/vocabulary_placement.h"

namespace stagecraft {
namespace {

// Layers of each virtual stage, in execution order. Every layer counts as one, and so do the
// embedding and the head if the transformer blocks alone do not divide evenly.
std::vector<int> EvenSplit(int blocks, int virtual_stages) {
  std::vector<int> counts(virtual_stages);
  if (blocks % virtual_stages == 0) {
    std::fill(counts.begin(), counts.end(), blocks / virtual_stages);
    ++counts.front();
    ++counts.back();
    return counts;
  }
  const int units = blocks + 2;
  std::fill(counts.begin(), counts.end(), units / virtual_stages);
  // What is left over goes to the stages after the first, which holds the embedding; the last ones
  // hold the head and get the fewest.
  for (int extra = 0; extra < units % virtual_stages; ++extra) {
    ++counts[(1 + extra) % virtual_stages];
  }
  return counts;
}

// The same if nothing of the embedding and the head counts: blocks that are left over go to the
// last stages, which have the fewest micro-batches in flight.
std::vector<int> EvenBlocks(int blocks, int virtual_stages) {
  std::vector<int> counts(virtual_stages, blocks / virtual_stages);
  for (int extra = 0; extra < blocks % virtual_stages; ++extra) {
    ++counts[virtual_stages - 1 - extra];
  }
  ++counts.front();
  ++counts.back();
  return counts;
}

// The given transformer blocks of each stage, spread over its chunks; the embedding and the head
// take a layer's place in the first and the last chunk.
std::vector<int> GivenSplit(const std::vector<int>& stage_blocks, const ChunkMap& map) {
  const int chunks = map.length() / map.stages();
  const int head = map.PlaceOf({0, map.length() - 1}).stage;
  std::vector<int> counts(map.length());
  for (int stage = 0; stage < map.stages(); ++stage) {
    const int units = stage_blocks[stage] + (stage == 0) + (stage == head);
    for (int chunk = 0; chunk < chunks; ++chunk) {
      counts[map.PartAt({stage, chunk}).index] = units / chunks + (chunk < units % chunks ? 1 : 0);
    }
  }
  return counts;
}

}  // namespace

std::vector<int> BalancedBlocks(const Workload& workload, int64_t sequence, int stages) {
  CHECK(stages > 1);
  const int last_layer = workload.layer_count() - 1;
  const int blocks = last_layer - 1;
  double in_blocks = 0;
  for (int l = 1; l < last_layer; ++l) in_blocks += workload.ForwardFlops(l, sequence).count();
  const double head = workload.ForwardFlops(last_layer, sequence).count() * blocks / in_blocks;
  const auto fullest = [&](int last) {
    return std::max(head + last, static_cast<double>(DivideUp(blocks - last, stages - 1)));
  };
  int last = 0;
  for (int count = 1; count <= blocks / stages; ++count) {
    if (fullest(count) <= fullest(last)) last = count;
  }
  std::vector<int> split(stages, (blocks - last) / (stages - 1));
  for (int i = 0; i < (blocks - last) % (stages - 1); ++i) ++split[stages - 2 - i];
  split.back() = last;
  return split;
}

std::vector<int> PartLayers(const PlanDegrees& d, const Workload& workload) {
  const ChunkMap map(PlacementOf(d), d.pipeline, d.chunks);
  // All but the first layer and the last, which the split places: the transformer blocks, and what
  // else stands between them (the embedding of a decoder).
  const int blocks = workload.layer_count() - 2;
  const int64_t virtual_stages = static_cast<int64_t>(d.pipeline) * d.chunks / map.chains();
  if (virtual_stages > blocks + 2) {
    throw InputError(
        fmt::format("pp {} x virtual stages {} = {} is more than the {} layers of {} (embedding "
                    "and head included)",
                    d.pipeline, d.chunks, virtual_stages, blocks + 2, workload.name));
  }
  if (d.balance_head && d.pipeline > 1) {
    if (IsSplit(d.schedule_options.vocabulary)) {
      throw InputError(fmt::format(
          "redistributed vocabulary placement: got it with vocabulary {}, want one of the two",
          Name(d.schedule_options.vocabulary)));
    }
    if (!d.stage_blocks.empty() || d.chunks > 1 || blocks < d.pipeline) {
      throw InputError(fmt::format(
          "redistributed vocabulary placement: wants one chunk per stage (got {}), as many "
          "layers as stages (got {} and {}) and no given layers per stage",
          d.chunks, blocks, d.pipeline));
    }
    return GivenSplit(BalancedBlocks(workload, d.sequence, d.pipeline), map);
  }
  if (d.stage_blocks.empty()) {
    const auto parts = static_cast<int>(virtual_stages);
    return IsSplit(d.schedule_options.vocabulary) ? EvenBlocks(blocks, parts)
                                                  : EvenSplit(blocks, parts);
  }
  int64_t given = 0;
  for (const int stage : d.stage_blocks) {
    if (stage < 0) throw InputError(fmt::format("stage layers: got {}, want at least 0", stage));
    given += stage;
  }
  if (static_cast<int>(d.stage_blocks.size()) != d.pipeline || given != blocks) {
    throw InputError(
        fmt::format("stage layers: {} stages with {} layers in all, want {} stages and {} layers",
                    d.stage_blocks.size(), given, d.pipeline, blocks));
  }
  return GivenSplit(d.stage_blocks, map);
}

void PlaceLayers(const std::vector<int>& part_layers, const ChunkMap& map, Plan& plan) {
  for (Stage& stage : plan.stages) stage.chunks.resize(map.chunks());
  int first = 0;
  for (int index = 0; index < map.length(); ++index) {
    for (int chain = 0; chain < map.chains(); ++chain) {
      const auto [stage, chunk] = map.PlaceOf({chain, index});
      plan.stages[stage].chunks[chunk] = {first, part_layers[index]};
    }
    first += part_layers[index];
  }
}

}  // namespace stagecraft
