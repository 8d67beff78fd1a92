#include "costmodel/gpu_datasheet.h"

#include <gtest/gtest.h>

#include <functional>

#include "costmodel/device_catalogue.h"
#include "costmodel/error_of.h"

namespace stagecraft {
namespace {

GpuDatasheetProto H100() {
  return DatasheetOf(DeviceCatalogue::Embedded().Get("h100-sxm", "test").device);
}

TEST(GpuDatasheetTest, UnitsAreThoseOfDatasheets) {
  const GpuDatasheetProto sheet = H100();
  EXPECT_DOUBLE_EQ(sheet.bf16_tflops(), 989);
  EXPECT_DOUBLE_EQ(sheet.memory_gb(), 80);
  EXPECT_DOUBLE_EQ(sheet.memory_gb_per_s(), 3350);
  EXPECT_DOUBLE_EQ(sheet.power_w(), 700);
  EXPECT_DOUBLE_EQ(sheet.boost_clock_mhz(), 1980);
  EXPECT_DOUBLE_EQ(sheet.l2_mb(), 50);
}

TEST(GpuDatasheetTest, ADatasheetGivesTheDeviceAgain) {
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    const Device& device = entry.device;
    if (device.Peak(DType::kFp32) != device.vector_peak || device.sustained_fraction > 0) continue;
    Device read = DeviceFromDatasheet(DatasheetOf(device), "x");
    EXPECT_NEAR(read.memory_bandwidth.bytes_per_s() / device.memory_bandwidth.bytes_per_s(), 1,
                1e-9);
    read.memory_bandwidth = device.memory_bandwidth;
    EXPECT_NEAR(read.boost_clock_hz / device.boost_clock_hz, 1, 1e-9);
    read.boost_clock_hz = device.boost_clock_hz;
    for (int type = 0; type < kDTypeCount; ++type) {
      EXPECT_NEAR(read.peak[type].flop_per_s(), device.peak[type].flop_per_s(), 1e3);
      read.peak[type] = device.peak[type];
    }
    read.vector_peak = device.vector_peak;
    EXPECT_EQ(read, device) << device.id;
  }
}

TEST(GpuDatasheetTest, ErrorsNameTheKeyInItsOwnUnit) {
  const auto error = [](const std::function<void(GpuDatasheetProto&)>& spoil) {
    GpuDatasheetProto sheet = H100();
    spoil(sheet);
    return ErrorOf([&] { DeviceFromDatasheet(sheet, "gpu.yaml"); });
  };
  EXPECT_EQ(error([](auto&) {}), "");
  EXPECT_EQ(error([](auto& sheet) { sheet.set_bf16_tflops(9.89e14); }),
            "gpu.yaml: bf16_tflops: got 989000000000000, want from 0.001 to 100000 TFLOP/s");
  EXPECT_EQ(error([](auto& sheet) { sheet.clear_power_w(); }),
            "gpu.yaml: power_w: got none, want from 10 to 5000 W");
  EXPECT_EQ(error([](auto& sheet) { sheet.set_power_w(70000); }),
            "gpu.yaml: power_w: got 70000, want from 10 to 5000 W");
  EXPECT_EQ(error([](auto& sheet) { sheet.clear_fp32_tflops(); }),
            "gpu.yaml: fp32_tflops: got none, want from 0.001 to 100000 TFLOP/s");
  EXPECT_EQ(error([](auto& sheet) { sheet.set_memory_gb_per_s(-1); }),
            "gpu.yaml: memory_gb_per_s: got -1, want from 0.1 to 100000 GB/s");
  EXPECT_EQ(error([](auto& sheet) { sheet = GpuDatasheetProto(); }),
            "gpu.yaml: id, generation, multiprocessors, boost_clock_mhz, power_w, fp32_tflops, "
            "memory_gb, memory_gb_per_s, l2_mb: got none of these, want all of them");
  EXPECT_EQ(error([](auto& sheet) {
              sheet.clear_l2_mb();
              sheet.clear_power_w();
            }),
            "gpu.yaml: power_w, l2_mb: got none of these, want all of them");
  EXPECT_NE(error([](auto& sheet) { sheet.clear_generation(); }), "");
  EXPECT_NE(error([](auto& sheet) { sheet.clear_id(); }), "");
}

}  // namespace
}  // namespace stagecraft
