#include "sim/job/checkpoint.h"

#include <boost/math/special_functions/lambert_w.hpp>
#include <cmath>

namespace stagecraft {

Duration BestCheckpointInterval(Duration write, Duration mtbf) {
  const double m = mtbf.seconds();
  const double share = write.seconds() / m;
  // Near its branch point W loses half of its digits, and its series in p is exact enough
  // (Corless, Gonnet, Hare, Jeffrey, Knuth, "On the Lambert W function", 1996, equation 4.22).
  constexpr double kNearBranchPoint = 1e-6;
  if (share < kNearBranchPoint) {
    const double p = std::sqrt(-2 * std::expm1(-share));
    return Duration::Seconds(m * p * (1 - p / 3 + 11 * p * p / 72));
  }
  return Duration::Seconds(m * (1 + boost::math::lambert_w0(-std::exp(-share - 1))));
}

Duration YoungCheckpointInterval(Duration write, Duration mtbf) {
  return Duration::Seconds(std::sqrt(2 * write.seconds() * mtbf.seconds()));
}

Duration ExpectedRunTime(Duration work, Duration interval, Duration write, Duration restart,
                         Duration mtbf) {
  const double m = mtbf.seconds();
  return Duration::Seconds(m * std::exp(restart.seconds() / m) *
                           std::expm1((interval + write).seconds() / m) * work.seconds() /
                           interval.seconds());
}

}  // namespace stagecraft
