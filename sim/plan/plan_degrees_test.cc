#include "sim/plan/plan_degrees.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/proto_file.h"
#include "proto/plan.pb.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/plan/plan.h"
#include "sim/plan/plan_proto.h"
#include "sim/workload/workload.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

class PlanDegreesTest : public testing::Test {
 protected:
  PlanProto Parse(const std::string& text) const {
    PlanProto proto;
    ParseProtoText(text, "plan.textproto", ".textproto", &proto);
    return proto;
  }
  Plan PlanOf(const PlanProto& proto) const {
    return PlanFromProto(proto, workload_, cluster_, "plan.textproto");
  }
  PlanProto Shortened(const std::string& text) const {
    const Plan plan = PlanOf(Parse(text));
    PlanProto proto = ToShortProto(plan, workload_, cluster_);
    EXPECT_EQ(ToProto(PlanOf(proto)).DebugString(), ToProto(plan).DebugString()) << text;
    return proto;
  }

  const Workload workload_ = LoadWorkload("megatron:6x1024x16", AttentionBackend::kFlash);
  const Cluster cluster_ = ParseCluster("h100-sxm:2x8");
};

constexpr const char* kBatch = "micro_batch: 1 global_batch: 16 sequence: 2048 ";

TEST_F(PlanDegreesTest, APlanOfEqualStagesIsWrittenAsDegrees) {
  const PlanProto proto = Shortened(std::string(kBatch) + "degrees { tp: 4 pp: 2 }");
  EXPECT_EQ(proto.ShortDebugString(),
            "degrees { tp: 4 pp: 2 dp: 2 recompute: SELECTIVE } micro_batch: 1 global_batch: 16 "
            "sequence: 2048 order: ONE_FORWARD_ONE_BACKWARD zero: 1");
}

// Whatever is not a default is kept, and all is read as the same plan.
TEST_F(PlanDegreesTest, KeepsWhatIsNotADefault) {
  for (const std::string more :
       {"degrees { tp: 2 pp: 2 virtual_stages: 3 } order: INTERLEAVED zero: 2",
        "degrees { tp: 2 pp: 4 stage_layers: [2, 1, 1, 2] }",
        "degrees { tp: 2 pp: 2 stage_replicas: [6, 2] }",
        "degrees { tp: 2 pp: 4 replica_micro_batches: [9, 7] }",
        "degrees { tp: 2 cp: 2 recompute: FULL } sequence_parallel: false rank_order: "
        "\"tp-cp-ep-pp-dp\"",
        "degrees { pp: 4 recompute_num_layers: 1 } optimizer: ADAM_8BIT overlap_p2p: false",
        "degrees { pp: 2 } order: CUSTOM orders: [\"F0 F1 B0 B1\", \"F0 B0 F1 B1\"] micro_batch: 1 "
        "global_batch: 16"}) {
    const PlanProto proto = Shortened(
        (more.find("global_batch") == std::string::npos ? kBatch : std::string("sequence: 2048 ")) +
        more);
    EXPECT_TRUE(proto.has_degrees()) << more;
    EXPECT_EQ(proto.stages_size(), 0) << more;
  }
}

TEST_F(PlanDegreesTest, UnlikeStagesAreListed) {
  const PlanProto proto = Shortened(
      std::string(kBatch) +
      "stages { chunks { first: 0 count: 4 } tensor_parallel: 2 replicas { devices: [0, 1] } } "
      "stages { chunks { first: 4 count: 4 } replicas { devices: 2 } }");
  EXPECT_FALSE(proto.has_degrees());
  EXPECT_EQ(proto.stages_size(), 2);
}

}  // namespace
}  // namespace stagecraft
