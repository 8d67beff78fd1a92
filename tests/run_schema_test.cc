// Tests that what `run --json` prints is as its schema says.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "sim/schedule/timeline_record.h"
#include "tests/bad_input.h"
#include "tools/report/circumstances.h"
#include "tools/schema/all_schemas.h"
#include "tools/schema/schema_validator.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;
using bad_input::Result;
using bad_input::RunLine;

class RunSchemaTest : public bad_input::FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    const auto program = std::filesystem::absolute("tools/run/stagecraft_host_rank");
    setenv("STAGECRAFT_HOST_RANK", program.c_str(), 1);
    Write("config.json",
          R"({"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 64,
              "vocab_size": 256})");
  }

  // Runs a plan on two processes.
  Json Run(const std::string& flags) const {
    const Result result = RunLine(Expand(
        "run --json --quiet --model $T/config.json --cluster h100-sxm:1x2 --pp 2 --micro-batch 1 "
        "--global-batch 2 --seq 64 --precision fp32 " +
        flags));
    EXPECT_EQ(result.code, 0) << flags << ": " << result.err;
    return Json::parse(result.out, nullptr, false);
  }
  static std::vector<std::string> Errors(const Json& report) {
    static const std::string schema = AllSchemas("tools/schema/outputs").at("run-output");
    return FindSchemaErrors(report, nlohmann::json::parse(schema));
  }
};

TEST_F(RunSchemaTest, StepsAreAsTheSchemaSays) {
  const Json report = Run("--steps 2 --warm-up 0 --slow 1=0.5");
  EXPECT_TRUE(report.contains("speeds"));
  EXPECT_EQ(Errors(report), std::vector<std::string>());
}

TEST_F(RunSchemaTest, TrainingRunsAreAsTheSchemaSays) {
  const Json report = Run("--steps 4 --checkpoint-every 2 --kill 1@step=3");
  EXPECT_EQ(report["training"]["kills"].size(), 1u);
  EXPECT_EQ(Errors(report), std::vector<std::string>());
}

// Only GPUs report these.
TEST_F(RunSchemaTest, ReadingsOfGpusAreAsTheSchemaSays) {
  Json report = Run("--steps 2 --warm-up 0");
  Measurement measurement;
  measurement.gpus = {{.clock_hz = 1.9e9, .watts = 500, .throttled = 0.25}, {}};
  measurement.steps = {Duration::Nanoseconds(5), Duration::Nanoseconds(6)};
  measurement.queued_late = {Duration(), Duration::Nanoseconds(2)};
  AddCircumstances(measurement, &report);
  EXPECT_EQ(report["boards"].size(), 2u);
  EXPECT_TRUE(report.contains("late_steps"));
  EXPECT_EQ(Errors(report), std::vector<std::string>());
  report["boards"][0]["clock_ghz"] = 1.9;
  EXPECT_EQ(Errors(report).size(), 1u);
}

}  // namespace
}  // namespace stagecraft
