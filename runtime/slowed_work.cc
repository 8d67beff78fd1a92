#include "runtime/slowed_work.h"

#include <cstdint>
#include <ctime>

namespace stagecraft {
namespace {

// How long this thread has had a CPU, in ns. Time in which others had it is not the op's, and must
// not be made longer.
int64_t OwnNanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

void SlowedWork::Run(TaskId task, int index) {
  const int64_t begin = OwnNanoseconds();
  work_.Run(task, index);
  const auto alone = static_cast<double>(OwnNanoseconds() - begin);
  const int64_t end = begin + static_cast<int64_t>(alone / speed_);
  while (OwnNanoseconds() < end) {
  }
}

}  // namespace stagecraft
