#include "runtime/host_processor.h"

#include <gtest/gtest.h>
#include <sched.h>

#include "costmodel/device.h"
#include "runtime/processor_count.h"

namespace stagecraft {
namespace {

// A container, for instance, may use only some of a host's CPUs.
TEST(HostProcessorTest, ProcessorsThatMayNotBeUsedDoNotCount) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(ProcessorCount(), CPU_COUNT(&all));
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(ProcessorCount(), 1);
  EXPECT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

// A cost model tells devices apart by their values, so two calls must return the same.
TEST(HostProcessorTest, AHostWithoutAMeasurementIsAlwaysTheSameDevice) {
  const Device host = NominalProcessor();
  EXPECT_EQ(host.id, "host");
  EXPECT_EQ(host.generation, Generation::kHost);
  EXPECT_EQ(host, NominalProcessor());
}

}  // namespace
}  // namespace stagecraft
