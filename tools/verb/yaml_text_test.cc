#include "tools/verb/yaml_text.h"

#include <gtest/gtest.h>

#include <string>

#include "costmodel/proto_file.h"
#include "proto/cluster.pb.h"
#include "proto/plan.pb.h"

namespace stagecraft {
namespace {

PlanProto Read(const std::string& text, const std::string& extension) {
  PlanProto proto;
  ParseProtoText(text, "plan" + extension, extension, &proto);
  return proto;
}

TEST(YamlTextTest, ShortMessagesAreOnALineEach) {
  const PlanProto proto = Read(
      "degrees { tp: 8 pp: 2 stage_layers: [3, 5] } micro_batch: 1 global_batch: 64 order: "
      "ONE_FORWARD_ONE_BACKWARD overlap_p2p: false activation_limit: 1.5",
      ".textproto");
  EXPECT_EQ(YamlText(proto),
            "degrees: {tp: 8, pp: 2, stage_layers: [3, 5]}\n"
            "micro_batch: 1\n"
            "global_batch: 64\n"
            "order: ONE_FORWARD_ONE_BACKWARD\n"
            "overlap_p2p: false\n"
            "activation_limit: 1.5\n");
  EXPECT_EQ(YamlText(PlanProto()), "{}\n");
}

// A stage with many replicas does not fit on a line, its replicas do.
TEST(YamlTextTest, LongMessagesAreTakenApart) {
  PlanProto proto;
  StageProto& stage = *proto.add_stages();
  for (int r = 0; r < 6; ++r) {
    ReplicaProto& replica = *stage.add_replicas();
    for (int d = 0; d < 4; ++d) replica.add_devices(4 * r + d);
  }
  stage.set_tensor_parallel(4);
  const std::string text = YamlText(proto);
  EXPECT_EQ(text.substr(0, text.find("{devices: [8")),
            "stages:\n"
            "- tensor_parallel: 4\n"
            "  replicas:\n"
            "  - {devices: [0, 1, 2, 3]}\n"
            "  - {devices: [4, 5, 6, 7]}\n"
            "  - ");
  EXPECT_EQ(Read(text, ".yaml").SerializeAsString(), proto.SerializeAsString());
}

TEST(YamlTextTest, TextThatYamlWouldTakeForSomethingElseIsQuoted) {
  for (const char* name :
       {"plain", "h100-sxm5-80gb", "no", "Yes", "null", "12", "1e5", "", " a", "a: b", "a #b",
        "say \"so\"", "back\\slash", "line\nbreak", "größer", "-x", "[1]"}) {
    ClusterProto proto;
    proto.set_name(name);
    ClusterProto read;
    ParseProtoText(YamlText(proto), "cluster.yaml", ".yaml", &read);
    EXPECT_EQ(read.name(), name) << YamlText(proto);
  }
  ClusterProto proto;
  proto.set_name("h100-sxm5-80gb");
  EXPECT_EQ(YamlText(proto), "name: h100-sxm5-80gb\n");
  proto.set_name("off");
  EXPECT_EQ(YamlText(proto), "name: \"off\"\n");
}

TEST(YamlTextTest, NumbersKeepTheirValue) {
  PlanProto proto;
  proto.set_bucket_bytes(9007199254740993);
  proto.set_expert_imbalance(1.0 / 3);
  proto.set_activation_limit(5e10);
  EXPECT_EQ(Read(YamlText(proto), ".yaml").SerializeAsString(), proto.SerializeAsString());
}

}  // namespace
}  // namespace stagecraft
