#include <gtest/gtest.h>

#include <string>

#include "costmodel/network/network_model.h"
#include "data/embedded.h"
#include "proto/network.pb.h"

namespace stagecraft {
namespace {

TEST(ShippedNetworkModelTest, ItsFactorsAreThoseOfItsCurves) {
  NetworkModelProto proto;
  ASSERT_TRUE(proto.ParseFromString(std::string(EmbeddedNetworkModel())));
  const NetworkModel anew = NetworkModel::FromProto(proto, "embedded");
  ASSERT_GT(anew.curves(), 100u);
  EXPECT_TRUE(NetworkModel::Shipped().FactorBytes() == anew.FactorBytes());
  EXPECT_EQ(NetworkModel::Shipped().ToProto().SerializeAsString(),
            anew.ToProto().SerializeAsString());
}

}  // namespace
}  // namespace stagecraft
