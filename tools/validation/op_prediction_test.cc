// Predictions of rows that measure layers, kernels and collectives.
#include <gtest/gtest.h>

#include "tools/validation/prediction_testing.h"
#include "tools/validation/test_rows.h"

namespace stagecraft {
namespace {

TEST(OpPredictionTest, LayerPassesAddUp) {
  MeasuredRow row = Gpt();
  row.metric_kind = "layer_time";
  row.micro_batch = 4;
  const auto seconds = [&](const char* metric) {
    row.metric = metric;
    return Predict(row).value.value();
  };
  EXPECT_DOUBLE_EQ(seconds("layer_fwd_bwd_time"),
                   seconds("layer_forward_time") + seconds("layer_backward_time"));
}

TEST(OpPredictionTest, KernelsAreTimesOrRates) {
  MeasuredRow row;
  row.gpu_id = "a100-sxm4-80gb";
  row.dtype = "fp16";
  row.op = "gemm";
  row.m = row.n = row.k = 4096;
  row.metric_kind = "kernel_time";
  const double seconds = Predict(row).value.value();
  row.metric_kind = "kernel_tflops";
  EXPECT_NEAR(Predict(row).value.value(), 2 * 4096.0 * 4096 * 4096 / seconds * 1e-12, 1e-6);
}

// The bus bandwidth of an all-reduce over n ranks is 2 (n - 1) / n x bytes / time.
TEST(OpPredictionTest, CollectivesAreTimesOrBusBandwidths) {
  MeasuredRow row;
  row.gpu_id = "a100-sxm4-80gb";
  row.intra_kind = "nvlink3-nvswitch";
  row.n_gpus = row.gpus_per_node = 4;
  row.collective = "all_reduce";
  row.bytes = 1 << 30;
  row.metric_kind = "collective_time";
  const double seconds = Predict(row).value.value();
  row.metric_kind = "collective_busbw";
  EXPECT_NEAR(Predict(row).value.value(), 1.5 * 1.073741824 / seconds, 1e-6);
}

}  // namespace
}  // namespace stagecraft
