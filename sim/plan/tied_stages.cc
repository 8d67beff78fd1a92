#include "sim/plan/tied_stages.h"

#include <algorithm>
#include <vector>

namespace stagecraft {

std::optional<TiedStages> FindTiedStages(const Plan& plan, const Workload& workload) {
  if (plan.SplitsVocabulary()) return std::nullopt;  // every stage holds its rows once
  const LayerKind& head = workload.layer(workload.layer_count() - 1);
  if (!workload.tied_embeddings || head.tied_parameters == 0) return std::nullopt;
  if (head.is_frozen) return std::nullopt;  // so is the embedding, and there are no gradients
  const ChunkMap map = MapOf(plan);
  const TiedStages tied = {map.PlaceOf({0, 0}).stage, map.PlaceOf({0, map.length() - 1}).stage,
                           head.tied_parameters};
  const std::vector<int> peers = map.Peers(tied.first);
  if (std::find(peers.begin(), peers.end(), tied.last) != peers.end()) return std::nullopt;
  return tied;
}

}  // namespace stagecraft
