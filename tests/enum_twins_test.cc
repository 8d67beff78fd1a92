// Tests that enums have the same values and names as their protos. Converters cast from one to the
// other, so an enumerator that is added, renamed or moved on one side alone would be read as
// another.
#include <gtest/gtest.h>

#include "costmodel/device.h"
#include "costmodel/enum_testing.h"
#include "costmodel/gradient_sync.h"
#include "costmodel/link.h"
#include "costmodel/op.h"
#include "proto/cluster.pb.h"
#include "proto/device.pb.h"
#include "proto/framework.pb.h"
#include "proto/link.pb.h"
#include "proto/op.pb.h"
#include "proto/plan.pb.h"
#include "proto/schedule.pb.h"
#include "proto/workload.pb.h"
#include "sim/cluster/node_type.h"
#include "sim/cluster/topology/interconnect_spec.h"
#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/pass_order.h"
#include "sim/pipeline/vocabulary_placement.h"
#include "sim/plan/framework.h"
#include "sim/plan/plan.h"
#include "sim/plan/step_options.h"
#include "sim/schedule/task_tag.h"
#include "sim/workload/workload.h"

namespace stagecraft {
namespace {

enum class Fruit { kApple, kBloodOrange };

TEST(EnumTwinsTest, NamesAreThoseOfTheCode) {
  EXPECT_EQ(EnumeratorNames<Fruit>(), (std::vector<std::string>{"kApple", "kBloodOrange"}));
  EXPECT_EQ(EnumeratorNames<RecomputeChoice::Method>(),
            (std::vector<std::string>{"kBlock", "kUniform"}));
  EXPECT_EQ(EnumeratorNames<Phase>().front(), "kForward");  // an enum of one byte
}

TEST(EnumTwinsTest, NamesAreComparedWithoutTheirSpelling) {
  EXPECT_EQ(PlainName("kAdam8Bit"), PlainName("ADAM_8BIT"));
  EXPECT_EQ(PlainName("kBytePs"), PlainName("BYTEPS"));
  EXPECT_NE(PlainName("kRing"), PlainName("TREE"));
}

TEST(EnumTwinsTest, OpsAreNumberedAsTheirProto) {
  ExpectTwins<OpKind, OpProto::Kind>();
  ExpectTwins<Direction, OpProto::Direction>();
  ExpectTwins<AttentionUse, OpProto::AttentionUse>();
  ExpectTwins<AttentionKernel, OpProto::AttentionKernel>();
  ExpectTwins<SparseProduct, OpProto::SparseProduct>();
  ExpectTwins<SyncMethod, GradientSyncProto::Method>(
      {{"kRing", "RING_ALL_REDUCE"}, {"kTree", "TREE_ALL_REDUCE"}});
}

TEST(EnumTwinsTest, NumberFormatsAreNumberedAsTheirProtos) {
  ExpectTwins<DType, OpProto::DType>();
  ExpectTwins<DType, PlanProto::Precision>();
}

TEST(EnumTwinsTest, HardwareIsNumberedAsItsProtos) {
  ExpectTwins<Generation, DeviceProto::Generation>();
  ExpectTwins<MemoryKind, DeviceProto::MemoryKind>();
  ExpectTwins<LinkKind, LinkProto::Kind>();
  ExpectTwins<LinkKind, FabricProto::LinkKind>();
  ExpectTwins<Wiring, NodeTypeProto::Wiring>();
  ExpectTwins<FabricKind, SwitchedFabricProto::Kind>();
}

TEST(EnumTwinsTest, WorkloadsAreNumberedAsTheirProto) {
  ExpectTwins<OperatorKind, OperatorProto::Kind>();
  ExpectTwins<Split, OperatorProto::Split>();
  ExpectTwins<LayerRole, LayerKindProto::Role>();
  ExpectTwins<AttentionBackend, WorkloadProto::AttentionBackend>();
}

TEST(EnumTwinsTest, PlansAreNumberedAsTheirProto) {
  ExpectTwins<Placement, PlanProto::Placement>();
  ExpectTwins<WarmupPolicy, PlanProto::Warmup>();
  ExpectTwins<VocabularyPlacement, PlanProto::Vocabulary>();
  ExpectTwins<Recompute, PlanProto::Recompute>();
  ExpectTwins<RecomputeChoice::Method, DegreesProto::RecomputeMethod>();
  ExpectTwins<Optimizer, PlanProto::Optimizer>();
  ExpectTwins<ContextExchange, PlanProto::ContextExchange>();
  ExpectTwins<Fp8Recipe, PlanProto::Fp8Recipe>();
  ExpectTwins<BackwardPrefetch, FrameworkProto::BackwardPrefetch>();
  ExpectTwins<ParameterGather, FrameworkProto::ParameterGather>();
  ExpectTwins<ParameterExchange, FrameworkProto::ParameterExchange>();
}

TEST(EnumTwinsTest, SchedulesAreNumberedAsTheirProto) {
  ExpectTwins<LaneKind, ScheduleProto::LaneKind>();
  ExpectTwins<Phase, ScheduleProto::Phase>({{"kContext", "CONTEXT_EXCHANGE"}});
}

}  // namespace
}  // namespace stagecraft
