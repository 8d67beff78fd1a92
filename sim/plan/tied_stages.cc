#include "sim/plan/tied_stages.h"

#include <algorithm>
#include <map>
#include <vector>

#include "sim/workload/early_exit.h"
#include "sim/workload/tied_layers.h"

namespace stagecraft {
namespace {

// The layers that share the tensor of the head, if some do, ascending. Middle layers that share the
// table of an embedding (those of decoders) are not among them.
std::vector<int> LayersTiedToHead(const Workload& workload) {
  const int last = workload.layer_count() - 1;
  const int home = HomeOfTied(workload);
  const int64_t of_head = workload.layer(last).tied_parameters;
  const bool has_tied_head = home == last || (workload.tied_embeddings && of_head > 0);
  if (home < 0 || !has_tied_head) return {};
  std::vector<int> layers = TiedLayers(workload);
  std::erase_if(layers, [&](int layer) {
    return layer != home && layer != last && !HasExit(workload.layer(layer));
  });
  return layers;
}

// The stage of a layer in the first chain of the pipeline.
int StageOf(const Plan& plan, const ChunkMap& map, int layer) {
  for (int index = 0; index < map.length(); ++index) {
    const ChunkMap::Place place = map.PlaceOf({0, index});
    const LayerRange& range = plan.stages[place.stage].chunks[place.chunk];
    if (layer >= range.first && layer < range.first + range.count) return place.stage;
  }
  return -1;
}

}  // namespace

std::optional<TiedStages> FindTiedStages(const Plan& plan, const Workload& workload) {
  if (plan.SplitsVocabulary()) return std::nullopt;  // every stage holds its rows once
  const std::vector<int> layers = LayersTiedToHead(workload);
  if (layers.empty()) return std::nullopt;
  const ChunkMap map = MapOf(plan);
  std::map<int, bool> is_trained;  // by the first stage that holds the same
  for (const int layer : layers) {
    const int stage = StageOf(plan, map, layer);
    if (stage < 0) continue;
    const std::vector<int> peers = map.Peers(stage);
    const auto known = std::find_if(peers.begin(), peers.end(),
                                    [&](int peer) { return is_trained.contains(peer); });
    bool& trained = is_trained[known == peers.end() ? stage : *known];
    trained = trained || TrainsTied(workload, layer);
  }
  TiedStages tied;
  for (const auto& [stage, trained] : is_trained) {
    tied.stages.push_back(stage);
    (trained ? tied.trained : tied.copies).push_back(stage);
  }
  if (tied.stages.size() < 2 || tied.trained.empty()) return std::nullopt;
  for (const int layer : layers) {
    tied.parameters = std::max(tied.parameters, workload.layer(layer).tied_parameters);
  }
  return tied;
}

}  // namespace stagecraft
