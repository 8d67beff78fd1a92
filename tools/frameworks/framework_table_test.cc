#include "tools/frameworks/framework_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

class ObstaclesTest : public ::testing::Test {
 protected:
  ObstaclesTest()
      : workload_(LoadWorkload("llama3-8b", AttentionBackend::kFlash)),
        cluster_(ParseCluster("h100-sxm:2x8")) {
    degrees_.global_batch = 64;
    degrees_.sequence = 4096;
  }

  std::vector<std::string> ObstaclesOf(const char* framework) const {
    return FindObstacles(*FrameworkTable::Embedded().Find(framework),
                         MakePlan(degrees_, workload_, cluster_), workload_);
  }

  Workload workload_;
  Cluster cluster_;
  PlanDegrees degrees_;
};

TEST_F(ObstaclesTest, APlainPlanOfMegatronHasNone) {
  degrees_.tensor = 2;
  degrees_.pipeline = 2;
  EXPECT_EQ(ObstaclesOf("megatron-core"), std::vector<std::string>());
}

TEST_F(ObstaclesTest, PipelinesOfMegatronAndDeepspeedShardNoGradients) {
  degrees_.pipeline = 4;
  degrees_.zero = 2;
  EXPECT_EQ(ObstaclesOf("megatron-core")[0], "Megatron-LM has no ZeRO 2 with pp 4");
  EXPECT_EQ(ObstaclesOf("deepspeed")[0], "DeepSpeed has no ZeRO 2 with pp 4");
  degrees_.pipeline = 1;
  EXPECT_TRUE(ObstaclesOf("deepspeed").empty());
}

TEST_F(ObstaclesTest, ZeroBubblesAreForTorchtitanAlone) {
  degrees_.pipeline = 2;
  degrees_.zero = 3;
  degrees_.schedule = PipelineSchedule::kZeroBubbleV;
  EXPECT_TRUE(ObstaclesOf("torchtitan").empty());
  EXPECT_EQ(ObstaclesOf("megatron-core")[0], "Megatron-LM has no schedule zb-v");
}

TEST_F(ObstaclesTest, UnevenStagesAreNotForDeepspeed) {
  degrees_.pipeline = 4;
  degrees_.zero = 1;
  EXPECT_TRUE(ObstaclesOf("deepspeed").empty());
  degrees_.stage_blocks = {7, 9, 9, 7};
  EXPECT_EQ(ObstaclesOf("deepspeed")[0],
            "DeepSpeed has no stages of 8, 9, 9, 8 layers, the embedding and the head included");
  EXPECT_TRUE(ObstaclesOf("megatron-core").empty());
}

TEST_F(ObstaclesTest, IrregularPlansAreForNone) {
  degrees_.pipeline = 2;
  degrees_.stage_replicas = {12, 4};
  degrees_.zero = 0;
  degrees_.global_batch = 48;
  for (const std::string& framework : FrameworkTable::Embedded().Names()) {
    const std::vector<std::string> obstacles = ObstaclesOf(framework.c_str());
    ASSERT_EQ(obstacles.size(), 1u);
    EXPECT_NE(obstacles[0].find("stages of 12 and 4 replicas"), std::string::npos);
  }
}

TEST_F(ObstaclesTest, EveryFeatureHasASentence) {
  degrees_.tensor = 2;
  degrees_.pipeline = 2;
  degrees_.context = 2;
  degrees_.precision = DType::kFp8;
  degrees_.fp8_recipe = Fp8Recipe::kRowwise;
  degrees_.optimizer = Optimizer::kAdam8Bit;
  degrees_.recompute = Recompute::kOperators;
  const std::vector<std::string> wanted = {"Megatron-LM has no recomputation operators",
                                           "Megatron-LM has no fp8-recipe rowwise",
                                           "Megatron-LM has no optimizer adam8bit"};
  EXPECT_EQ(ObstaclesOf("megatron-core"), wanted);
  const std::vector<std::string> fsdp = ObstaclesOf("fsdp");
  for (const char* feature : {"pipelines (pp 2)", "tensor parallelism (tp 2)",
                              "context parallelism (cp 2)", "ZeRO 1 with pp 2"}) {
    const std::string sentence = std::string("PyTorch FSDP has no ") + feature;
    EXPECT_NE(std::find(fsdp.begin(), fsdp.end(), sentence), fsdp.end()) << sentence;
  }
}

TEST(FrameworkTableTest, TheShippedTableHasFiveFrameworks) {
  const std::vector<std::string> names = {"megatron-core", "megatron-bridge", "torchtitan",
                                          "deepspeed", "fsdp"};
  EXPECT_EQ(FrameworkTable::Embedded().Names(), names);
}

TEST(FrameworkTableTest, BrokenTablesAreRefused) {
  const auto error = [](const std::string& fields) {
    return ErrorOf([&] {
      FrameworkTable::Parse("frameworks { id: \"a\" title: \"A\" " + fields + " }", "t.textproto");
    });
  };
  EXPECT_EQ(error("pipelines: true"),
            "t.textproto: frameworks[0].origins: got none for \"pipelines\", want one");
  EXPECT_EQ(error("zeros: 4 origins { field: \"zeros\" origin: \"x\" }"),
            "t.textproto: frameworks[0].zeros: got 4, want 0 to 3");
  EXPECT_EQ(error("precisions: \"fp7\" origins { field: \"precisions\" origin: \"x\" }"),
            "t.textproto: frameworks[0].precisions: got \"fp7\", want one of bf16, fp16, fp32, "
            "tf32, fp8, nvfp4");
  EXPECT_EQ(error("origins { field: \"colour\" origin: \"x\" }"),
            "t.textproto: frameworks[0].origins: got \"colour\", want a field");
}

}  // namespace
}  // namespace stagecraft
