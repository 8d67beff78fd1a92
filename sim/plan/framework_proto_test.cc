#include "sim/plan/framework_proto.h"

#include <gtest/gtest.h>

#include "costmodel/error_of.h"

namespace stagecraft {
namespace {

TEST(FrameworkProtoTest, EveryFieldComesBack) {
  Framework framework;
  EXPECT_EQ(FrameworkFromProto(FrameworkToProto(framework), {"x"}), framework);
  framework.elementwise_traffic = 1.25;
  framework.backward_prefetch = BackwardPrefetch::kAfter;
  framework.parameter_gather = ParameterGather::kTensors;
  framework.parameter_exchange = ParameterExchange::kBroadcasts;
  framework.shard_copies = ShardCopies::kParameters;
  framework.composes_operators = true;
  framework.updates_by_operations = true;
  framework.autocasts = true;
  framework.adds_gradients_apart = true;
  framework.exposes_tensor_gradients = true;
  EXPECT_EQ(FrameworkFromProto(FrameworkToProto(framework), {"x"}), framework);
}

TEST(FrameworkProtoTest, WhatIsAbsentIsThatOfAnEagerFramework) {
  EXPECT_EQ(FrameworkFromProto(FrameworkProto(), {"x"}), Framework());
  EXPECT_EQ(Framework().elementwise_traffic, kEagerTraffic);
}

TEST(FrameworkProtoTest, BadValuesSayWhere) {
  FrameworkProto proto;
  proto.set_elementwise_traffic(0.9);
  const auto error = [&] {
    return ErrorOf([&] { FrameworkFromProto(proto, {"p", "framework."}); });
  };
  EXPECT_EQ(error(), "p: framework.elementwise_traffic: got 0.9, want 1 to 100");
  proto.clear_elementwise_traffic();
  proto.set_backward_prefetch(static_cast<FrameworkProto::BackwardPrefetch>(7));
  EXPECT_EQ(error(), "p: framework.backward_prefetch: got 7, want 0 to 2");
  proto.clear_backward_prefetch();
  proto.set_parameter_exchange(static_cast<FrameworkProto::ParameterExchange>(-1));
  EXPECT_EQ(error(), "p: framework.parameter_exchange: got -1, want 0 to 2");
}

}  // namespace
}  // namespace stagecraft
