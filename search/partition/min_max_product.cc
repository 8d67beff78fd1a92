#include "search/partition/min_max_product.h"

#include <algorithm>
#include <limits>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// A block of `stage` (64 KiB) stays in the cache while all rows of `prefix` are processed.
constexpr Eigen::Index kBlockHeight = 16;
constexpr Eigen::Index kBlockWidth = 512;

struct Block {
  Eigen::Index top, height, left, width;
};

// Improves row i of `best`, in the block's columns j, by the block's rows k.
void ImproveRow(const TimeTable& prefix, const TimeTable& stage, const Eigen::ArrayXd& fastest,
                const Block& block, Eigen::Index i, TimeTable& best) {
  auto row = best.row(i).segment(block.left, block.width);
  const double slowest = row.maxCoeff();
  for (Eigen::Index k = std::max(block.top, i); k < block.top + block.height; ++k) {
    const double before = prefix(i, k);
    if (before >= slowest || fastest(k - block.top) >= slowest) continue;
    const Eigen::Index left = std::max(block.left, k + 1);
    const Eigen::Index width = block.left + block.width - left;
    row.tail(width) = row.tail(width).min(stage.row(k).segment(left, width).max(before));
  }
}

}  // namespace

void ImproveByProduct(const TimeTable& prefix, const TimeTable& stage, TimeTable& best,
                      const StopSign& stop) {
  CHECK(prefix.rows() == best.rows() && stage.cols() == best.cols());
  const Eigen::Index states = stage.cols();
  for (Eigen::Index top = 0; top < stage.rows(); top += kBlockHeight) {
    const Eigen::Index height = std::min(kBlockHeight, stage.rows() - top);
    for (Eigen::Index left = top + 1; left < states; left += kBlockWidth) {
      stop.Check();
      const Block block{top, height, left, std::min(kBlockWidth, states - left)};
      Eigen::ArrayXd fastest(height);
      for (Eigen::Index k = 0; k < height; ++k) {
        const Eigen::Index first = std::max(left, top + k + 1);
        const Eigen::Index width = left + block.width - first;
        fastest(k) = width > 0 ? stage.row(top + k).segment(first, width).minCoeff()
                               : std::numeric_limits<double>::infinity();
      }
      const Eigen::Index rows = std::min(prefix.rows(), top + height);
      for (Eigen::Index i = 0; i < rows; ++i) ImproveRow(prefix, stage, fastest, block, i, best);
    }
  }
}

}  // namespace stagecraft
