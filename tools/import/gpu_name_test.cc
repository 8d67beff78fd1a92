#include "tools/import/gpu_name.h"

#include <gtest/gtest.h>

#include <string>

#include "costmodel/check.h"
#include "costmodel/device.h"
#include "costmodel/device_catalogue.h"

namespace stagecraft {
namespace {

TEST(GpuNameTest, AnotherModelIsAnotherGpu) {
  EXPECT_FALSE(IsAnotherGpu("A100-SXM4-40GB", "a100-sxm4-40gb"));
  EXPECT_TRUE(IsAnotherGpu("A100-SXM4-40GB", "h100-sxm5-80gb"));
  EXPECT_TRUE(IsAnotherGpu("NVIDIA A10", "a100-sxm4-40gb"));
  EXPECT_FALSE(IsAnotherGpu("NVIDIA GeForce RTX 2080 Ti", "rtx2080ti-11gb"));
  EXPECT_TRUE(IsAnotherGpu("NVIDIA GeForce RTX 2080 Ti", "rtx2080-8gb"));
}

TEST(GpuNameTest, FormFactorsDifferOnlyIfBothAreStated) {
  EXPECT_TRUE(IsAnotherGpu("NVIDIA A100 80GB PCIe", "a100-sxm4-80gb"));
  EXPECT_TRUE(IsAnotherGpu("NVIDIA H100 NVL", "h100-pcie-80gb"));
  EXPECT_FALSE(IsAnotherGpu("NVIDIA H100 80GB HBM3", "h100-sxm5-80gb"));
}

TEST(GpuNameTest, MemoryAndUnknownNamesSayNothing) {
  EXPECT_FALSE(IsAnotherGpu("A100-SXM4-40GB", "a100-sxm4-80gb"));
  EXPECT_FALSE(IsAnotherGpu("Graphics Device", "h100-sxm5-80gb"));
  EXPECT_FALSE(IsAnotherGpu("", "h100-sxm5-80gb"));
}

Device Known(const std::string& id) { return DeviceCatalogue::Embedded().Get(id, "test").device; }

std::string Refusal(const Device& device, const std::string& printed, int multiprocessors) {
  try {
    RequireGpu("--cluster", device, printed, multiprocessors);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(GpuNameTest, AClusterOfAnotherGpuIsRefused) {
  EXPECT_EQ(Refusal(Known("h100-sxm5-80gb"), "NVIDIA H100 80GB HBM3", 132), "");
  EXPECT_EQ(Refusal(Known("h100-sxm5-80gb"), "NVIDIA H200", 132),
            "--cluster: got the GPU h100-sxm5-80gb, want the NVIDIA H200 that is installed");
  EXPECT_EQ(Refusal(Known("h100-pcie-80gb"), "NVIDIA H100 80GB HBM3", 132),
            "--cluster: got the GPU h100-pcie-80gb with 114 SMs, want the NVIDIA H100 "
            "80GB HBM3 with 132 that is installed");
  // A GPU with fewer multiprocessors than usual is accepted under its own name.
  EXPECT_EQ(Refusal(Known("h100-sxm5-80gb"), "NVIDIA H100 80GB HBM3", 124), "");
}

TEST(GpuNameTest, APartIsOfItsOwnGpuAlone) {
  Device part = Known("h100-sxm5-80gb");
  part.id += "-part-of-64";
  part.multiprocessors = 64;
  EXPECT_EQ(Refusal(part, "NVIDIA H100 80GB HBM3", 0), "");
  EXPECT_EQ(
      Refusal(part, "NVIDIA H200", 0),
      "--cluster: got the GPU h100-sxm5-80gb-part-of-64, want the NVIDIA H200 that is installed");
}

TEST(GpuNameTest, ADeviceThatTheCatalogueLacksIsComparedOnlyByItsSize) {
  Device own = Known("h100-sxm5-80gb");
  own.id = "our-gpu";
  EXPECT_EQ(Refusal(own, "NVIDIA H200", 132), "");
  EXPECT_EQ(Refusal(own, "NVIDIA H200", 124),
            "--cluster: got the GPU our-gpu with 132 SMs, want the NVIDIA H200 with 124 "
            "that is installed");
  own.multiprocessors = 0;
  EXPECT_EQ(Refusal(own, "NVIDIA H200", 124), "");
}

}  // namespace
}  // namespace stagecraft
