#include "runtime/processor_count.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

namespace stagecraft {

int ProcessorCount() {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) == 0) return CPU_COUNT(&usable);
  // The host has more CPUs than cpu_set_t has room for.
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace stagecraft
