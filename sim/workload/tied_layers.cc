#include "sim/workload/tied_layers.h"

#include <algorithm>

#include "sim/workload/early_exit.h"

namespace stagecraft {

int HomeOfTied(const Workload& workload) {
  bool has_exits = false;
  for (const LayerKind& kind : workload.kinds) {
    if (kind.tied_parameters == 0) continue;
    if (!HasExit(kind)) return 0;
    has_exits = true;
  }
  return has_exits ? workload.layer_count() - 1 : -1;
}

std::vector<int> TiedLayers(const Workload& workload) {
  std::vector<int> layers;
  const int home = HomeOfTied(workload);
  if (home < 0) return layers;
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    if (layer == home || workload.layer(layer).tied_parameters > 0) layers.push_back(layer);
  }
  return layers;
}

bool TrainsTied(const Workload& workload, int layer) {
  const LayerKind& kind = workload.layer(layer);
  return kind.tied_parameters > 0 ? kind.TrainsTied() : !kind.is_frozen;
}

int DetachedLayers(const Workload& workload) {
  const std::vector<int> layers = TiedLayers(workload);
  const auto trained = std::count_if(layers.begin(), layers.end(),
                                     [&](int layer) { return TrainsTied(workload, layer); });
  return trained == 0 ? 0 : static_cast<int>(layers.size()) - static_cast<int>(trained);
}

}  // namespace stagecraft
