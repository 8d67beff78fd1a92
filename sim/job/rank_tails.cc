#include "sim/job/rank_tails.h"

namespace stagecraft {

Duration ExpectedTail(int ranks, int dropped, Duration mean) {
  double sum = 0;
  for (int waiting = dropped + 1; waiting <= ranks; ++waiting) sum += 1.0 / waiting;
  return Duration::Seconds(mean.seconds() * sum);
}

Duration DrawTail(int ranks, int dropped, Duration mean, Random& random) {
  double sum = 0;
  for (int waiting = ranks; waiting > dropped; --waiting) {
    sum += random.Exponential() / waiting;
  }
  return Duration::Seconds(mean.seconds() * sum);
}

}  // namespace stagecraft
