#include "costmodel/compute_slowdown.h"

#include <gtest/gtest.h>

#include <string>

#include "costmodel/board_power.h"
#include "costmodel/device_catalogue.h"

namespace stagecraft {
namespace {

double SlowdownOn(const Device& device, OpKind kind, int channels, int ranks = 8) {
  Fabric fabric;
  fabric.ranks = ranks;
  fabric.ranks_per_node = ranks;
  CollectiveMethod method;
  method.channels = channels;
  return ComputeSlowdown(Op::Collective(kind, Bytes(1 << 20), fabric), method, device);
}

const Device& GpuNamed(const std::string& name) {
  return DeviceCatalogue::Embedded().Get(name, "test").device;
}

TEST(ComputeSlowdownTest, EachChannelTakesTwoMultiprocessors) {
  Device device = GpuNamed("a100");
  device.power_w = 0;  // nothing limits the clock
  device.sustained_fraction = 0;
  EXPECT_NEAR(SlowdownOn(device, OpKind::kAllGather, 3), 6.0 / 108, 1e-12);
  EXPECT_NEAR(SlowdownOn(device, OpKind::kAllGather, 12), 24.0 / 108, 1e-12);
  EXPECT_NEAR(SlowdownOn(device, OpKind::kAllGather, 18), 32.0 / 108, 1e-12);
  device.collective_blocks = 4;
  EXPECT_NEAR(SlowdownOn(device, OpKind::kAllGather, 12), 4.0 / 108, 1e-12);
  device.collective_blocks = 0;
  EXPECT_EQ(SlowdownOn(device, OpKind::kAllGather, 12), 0);
}

TEST(ComputeSlowdownTest, AHigherClockMakesUpForPartOfIt) {
  const Device& device = GpuNamed("h100-sxm");  // power limits its clock in training
  const double left = 1 - 24.0 / 132;
  const double slowdown = SlowdownOn(device, OpKind::kAllGather, 12);
  EXPECT_NEAR(slowdown, 1 - left * ClockGain(device, left), 1e-12);
  EXPECT_LT(slowdown, 1 - left);
  EXPECT_GT(slowdown, 0);
}

TEST(ComputeSlowdownTest, MessagesGroupsOfOneAndHostsAreFree) {
  const Device& device = GpuNamed("h100-sxm");
  EXPECT_EQ(SlowdownOn(device, OpKind::kSendRecv, 12, 2), 0);
  EXPECT_EQ(SlowdownOn(device, OpKind::kAllGather, 12, 1), 0);
  Device host = device;
  host.generation = Generation::kHost;
  EXPECT_EQ(SlowdownOn(host, OpKind::kAllGather, 12), 0);
}

}  // namespace
}  // namespace stagecraft
