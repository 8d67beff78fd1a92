#include "costmodel/learned/families/gemm_tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "costmodel/learned/families/kernel_terms.h"

namespace stagecraft {
namespace {

// Features are held within what samples reach, or trees would split noise.
constexpr double kFarthestRatio = 3;  // of logarithms
constexpr double kFewestWaves = 1.0 / 256;
constexpr double kMostWaves = 64;

double WavesOf(const Product& product, const OutputTile& tile, int multiprocessors) {
  return product.batch * Blocks(product.m, tile.m) * Blocks(product.n, tile.n) / multiprocessors;
}

}  // namespace

Product ProductOfOneKernel(const Op& op) {
  const int64_t rows = op.kernels > 1 ? std::max<int64_t>(1, op.m / op.kernels) : op.m;
  return {static_cast<double>(op.batch), static_cast<double>(rows), static_cast<double>(op.n),
          static_cast<double>(op.k)};
}

double TiledSeconds(const Product& product, const TileCosts& costs, double rate,
                    int multiprocessors) {
  double best = std::numeric_limits<double>::infinity();
  for (const OutputTile& tile : kOutputTiles) {
    const double waves = WavesOf(product, tile, multiprocessors);
    const double flops_per_step = 2 * (tile.m * tile.n + costs.edge * (tile.m + tile.n));
    const double seconds_per_step = flops_per_step * multiprocessors / rate;
    for (const double split : kSplits) {
      const double steps = product.k / split + costs.fill;
      const double extra = split == 1 ? 0 : costs.split_seconds;
      best = std::min(
          best, CostOfWaves(waves * split, costs.wave_loss) * steps * seconds_per_step + extra);
    }
  }
  return best;
}

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
