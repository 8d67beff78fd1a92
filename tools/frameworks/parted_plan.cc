#include "tools/frameworks/parted_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "costmodel/check.h"
#include "sim/plan/layer_split.h"
#include "sim/plan/plan_proto.h"
#include "sim/plan/recomputed_layers.h"

namespace stagecraft {
namespace {

// The numbers of layers of parts that degrees stand for; empty if they stand for none.
std::vector<int> PartsOf(const PlanDegrees& degrees, const Workload& workload) {
  try {
    return PartLayers(degrees, workload);
  } catch (const InputError&) {
    return {};
  }
}

// Transformer blocks of each stage, summed over its chunks.
std::vector<int> StageBlocks(const std::vector<int>& parts, const ChunkMap& map) {
  std::vector<int> blocks(map.stages());
  for (size_t index = 0; index < parts.size(); ++index) {
    const int stage = map.PlaceOf({0, static_cast<int>(index)}).stage;
    blocks[stage] += parts[index];
    if (index == 0) --blocks[stage];                 // the embedding
    if (index + 1 == parts.size()) --blocks[stage];  // the head
  }
  return blocks;
}

PlanProto ListedStages(const PlanDegrees& degrees, const std::vector<int>& parts,
                       const Workload& workload, const Cluster& cluster) {
  // The layers that are recomputed are chosen anew for these parts.
  PlanDegrees other = degrees;
  other.recompute_choice = {};
  other.stage_blocks.clear();
  Plan plan = MakePlan(other, workload, cluster);
  PlaceLayers(parts, MapOf(plan), plan);
  ChooseRecomputedLayers(degrees, workload, plan);
  return ToProto(plan);
}

}  // namespace

void PlaceParts(const std::string& file, const Workload& workload, const Cluster* cluster,
                ImportedTraining& training) {
  if (!training.parts) return;
  const std::vector<int>& parts = training.parts->counts;
  const int64_t layers = std::accumulate(parts.begin(), parts.end(), int64_t{0});
  const bool is_filled =
      std::all_of(parts.begin(), parts.end(), [](int count) { return count > 0; });
  if (layers != workload.layer_count() || !is_filled) {
    throw InputError(
        fmt::format("{}: divides {} layers into {} parts, want the {} of the network, "
                    "with the embedding and the head, and some in every part",
                    training.parts->place, layers, parts.size(), workload.layer_count()));
  }
  PlanDegrees degrees = DegreesFromProto(training.plan, file);
  if (PartsOf(degrees, workload) == parts) return;
  const ChunkMap map(PlacementOf(degrees), degrees.pipeline, degrees.chunks);
  if (map.chains() == 1 && map.length() == static_cast<int>(parts.size())) {
    degrees.stage_blocks = StageBlocks(parts, map);
    if (PartsOf(degrees, workload) == parts) {
      for (const int blocks : degrees.stage_blocks) {
        training.plan.mutable_degrees()->add_stage_layers(blocks);
      }
      return;
    }
  }
  if (cluster == nullptr) {
    throw InputError(training.parts->place +
                     ": gives the chunks of a stage different layers, which a plan can only say "
                     "with its devices, want --cluster");
  }
  try {
    training.plan = ListedStages(degrees, parts, workload, *cluster);
  } catch (const InputError& error) {
    throw InputError(file + ": " + error.what());
  }
}

}  // namespace stagecraft
