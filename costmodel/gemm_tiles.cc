#include "costmodel/gemm_tiles.h"

#include <algorithm>
#include <limits>

#include "costmodel/kernel_terms.h"

namespace stagecraft {

Product ProductOf(const Op& op) {
  return {static_cast<double>(op.batch), static_cast<double>(op.m), static_cast<double>(op.n),
          static_cast<double>(op.k)};
}

Product ProductOfOneKernel(const Op& op) {
  Product product = ProductOf(op);
  if (op.kernels > 1) product.m = static_cast<double>(std::max<int64_t>(1, op.m / op.kernels));
  return product;
}

double WavesOf(const Product& product, const OutputTile& tile, int multiprocessors) {
  return product.batch * Blocks(product.m, tile.m) * Blocks(product.n, tile.n) / multiprocessors;
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

}  // namespace stagecraft
