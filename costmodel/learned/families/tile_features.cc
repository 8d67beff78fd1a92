#include "costmodel/learned/families/tile_features.h"

#include <algorithm>
#include <cmath>

namespace stagecraft {
namespace {

struct FeatureTile {
  OutputTile tile;
  bool adds_waves;
};
constexpr FeatureTile kFeatureTiles[] = {
    {{128, 128}, true}, {{128, 64}, true},  {{64, 128}, false},
    {{128, 32}, false}, {{32, 128}, false}, {{64, 64}, true},
    {{64, 32}, false},  {{32, 32}, true},   {{256, 128}, false}};

// Features are kept within the range of the samples, because otherwise trees would split noise.
constexpr double kFarthestRatio = 3;  // of logarithms
constexpr double kFewestWaves = 1.0 / 256;
constexpr double kMostWaves = 64;

}  // namespace

void AddTileFeatures(const Product& product, double peak, int multiprocessors, double seconds,
                     FeatureRow& row) {
  const double scale = 2 * product.k * multiprocessors / (peak * seconds);
  for (const auto& [tile, adds_waves] : kFeatureTiles) {
    const double waves = WavesOf(product, tile, multiprocessors);
    row.Add(std::clamp(std::log(std::ceil(waves) * tile.m * tile.n * scale), -kFarthestRatio,
                       kFarthestRatio));
    if (adds_waves) row.AddLog2(waves, kFewestWaves, kMostWaves);
  }
}

}  // namespace stagecraft
