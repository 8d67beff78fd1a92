// ImproveByProduct(): the matrix product with min in place of plus and max in place of times. It is
// the inner loop of every dynamic programme that joins a best prefix and a last stage so that the
// slower of the two is as fast as possible.
#pragma once

#include <Eigen/Core>

#include "search/partition/stop_sign.h"

namespace stagecraft {

// A table of seconds; infinity means not possible.
using TimeTable = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Sets best(i, j) = min(best(i, j), max(prefix(i, k), stage(k, j))) over all k >= i with k < j; the
// rest of `stage` and `prefix` is never read. Blocks that cannot improve anything are skipped.
// Throws Stopped.
void ImproveByProduct(const TimeTable& prefix, const TimeTable& stage, TimeTable& best,
                      const StopSign& stop = {});

}  // namespace stagecraft
