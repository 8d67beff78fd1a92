// Tests that every network with a name runs on a cluster, and every GPU of the catalogue runs one.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "costmodel/device.h"
#include "costmodel/device_catalogue.h"
#include "sim/plan/layer_division.h"
#include "sim/workload/workload.h"
#include "sim/workload/workload_catalogue.h"
#include "tests/bad_input.h"

namespace stagecraft {
namespace {

using bad_input::Result;
using bad_input::RunLine;
using Json = nlohmann::json;

// Returns the answer, with a time that is a time, parts that add up to it, and an MFU below one.
Json Answer(const std::string& line) {
  const Result result = RunLine(line);
  EXPECT_EQ(result.code, kExitOk) << line << "\n" << result.err;
  if (result.code != kExitOk) return {};
  Json step = Json::parse(result.out);
  const double time = step["step_time_ms"];
  EXPECT_TRUE(std::isfinite(time) && time > 0) << line;
  EXPECT_GT(step["mfu"].get<double>(), 0) << line;
  EXPECT_LE(step["mfu"].get<double>(), 1) << line;
  double parts = 0;
  for (const auto& [name, part] : step["breakdown_ms"].items()) parts += part.get<double>();
  EXPECT_NEAR(parts, time, 1e-6 * time) << line;
  return step;
}

TEST(CatalogueRunsTest, EveryPresetRunsOnACluster) {
  int count = 0;
  for (const std::string& name : WorkloadNames()) {
    Answer(
        fmt::format("simulate --model {} --cluster h100-sxm:2x8 --seq 512 --micro-batch 1 "
                    "--global-batch 16 --cost-model analytical --json --quiet",
                    name));
    ++count;
  }
  EXPECT_GE(count, 110);
}

// Returns bf16, or fp16 for older GPU types, which have no rate of bf16.
std::string PrecisionOf(const Device& device) {
  for (const DType dtype : {DType::kBf16, DType::kFp16}) {
    if (device.Peak(dtype).flop_per_s() > 0) return Name(dtype);
  }
  return Name(DType::kFp32);
}

TEST(CatalogueRunsTest, EveryGpuRunsASmallNetworkAlone) {
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    Answer(
        fmt::format("simulate --model gpt2 --cluster {}:1x1 --seq 128 --micro-batch 1 "
                    "--global-batch 1 --precision {} --json --quiet",
                    entry.device.id, PrecisionOf(entry.device)));
  }
}

// Nodes of their own have as many GPUs as they are sold with, and a network to others.
TEST(CatalogueRunsTest, EveryGpuRunsOnTwoNodes) {
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    Answer(
        fmt::format("simulate --model gpt2 --cluster {}:2x1 --seq 128 --micro-batch 1 "
                    "--global-batch 2 --precision {} --cost-model analytical --json --quiet",
                    entry.device.id, PrecisionOf(entry.device)));
  }
}

// Blocks of all kinds are divided in every way.
TEST(CatalogueRunsTest, RecentNetworksAreDividedInEveryWay) {
  for (const char* name : {"gemma-3-4b", "llama-4-scout", "gpt-oss-20b", "qwen3-next-80b-a3b",
                           "mamba2-1.3b", "nemotron-h-8b", "deepseek-v3.2", "olmo-2-7b"}) {
    const bool has_experts = ExpertCount(LoadWorkload(name, AttentionBackend::kFlash)) > 0;
    for (const std::string& division :
         {std::string("--tp 2"), std::string("--cp 2"), std::string("--pp 4 --schedule zb-h1"),
          std::string("--zero 3"), std::string("--recompute full --tp 2 --cp 2"),
          std::string("--recompute selective --attention unfused"),
          std::string(has_experts ? "--ep 8" : "--tp 4")}) {
      Answer(
          fmt::format("simulate --model {} --cluster h100-sxm:2x8 --seq 4096 --micro-batch 1 "
                      "--global-batch 64 {} --cost-model analytical --json --quiet",
                      name, division));
    }
  }
}

}  // namespace
}  // namespace stagecraft
