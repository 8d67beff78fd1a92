#include "costmodel/learned/lazy_family.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "costmodel/learned/learned_model.h"
#include "data/embedded.h"
#include "proto/cost_model.pb.h"

namespace stagecraft {
namespace {

CostModelProto Embedded() {
  CostModelProto proto;
  const std::string_view bytes = EmbeddedCostModel();
  EXPECT_TRUE(proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  return proto;
}

TEST(LazyFamilyTest, AModelIsSplitIntoItsFamiliesAndTheRest) {
  CostModelProto whole = Embedded();
  const SplitCostModel split = SplitFamilies(EmbeddedCostModel());
  ASSERT_EQ(static_cast<int>(split.families.size()), whole.families_size());
  ASSERT_GT(split.families.size(), 10u);
  for (int i = 0; i < whole.families_size(); ++i) {
    EXPECT_EQ(FamilyName(split.families[i]), whole.families(i).family());
    FamilyModelProto family;
    ASSERT_TRUE(family.ParseFromArray(split.families[i].data(),
                                      static_cast<int>(split.families[i].size())));
    EXPECT_EQ(family.SerializeAsString(), whole.families(i).SerializeAsString());
  }
  CostModelProto rest;
  ASSERT_TRUE(rest.ParseFromString(split.rest));
  whole.clear_families();
  EXPECT_EQ(rest.SerializeAsString(), whole.SerializeAsString());
}

// The families in the binary, all of which are sound.
TEST(LazyFamilyTest, TheModelInTheBinaryIsThatOfItsMessage) {
  EXPECT_EQ(LearnedModel::Shipped().ToProto().SerializeAsString(),
            LearnedModel::FromProto(Embedded(), "embedded").ToProto().SerializeAsString());
}

TEST(LazyFamilyTest, ThreadsThatAskAtOnceGetOneModel) {
  const SplitCostModel split = SplitFamilies(EmbeddedCostModel());
  const LazyFamily family(split.families[0]);
  std::vector<const FamilyModel*> seen(8);
  std::vector<std::thread> threads;
  for (const FamilyModel*& model : seen) {
    threads.emplace_back([&family, &model] { model = &family.Get(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const FamilyModel* model : seen) EXPECT_EQ(model, seen[0]);
  EXPECT_EQ(seen[0]->family().name(), FamilyName(split.families[0]));
}

}  // namespace
}  // namespace stagecraft
