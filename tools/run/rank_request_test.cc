#include "tools/run/rank_request.h"

#include <gtest/gtest.h>

#include "costmodel/units.h"
#include "runtime/host_training.h"
#include "runtime/measured_steps.h"

namespace stagecraft {
namespace {

TEST(RankRequestTest, ItIsTheSameAfterAFile) {
  RankRequest request;
  request.speeds = {1, 0.5};
  request.counts = {.warm_up = {1, 2_ms}, .measured = {3, 4_ms}};
  request.states = {Bytes(5), Bytes(6)};
  HostTraining& training = request.training.emplace();
  training.run = ~uint64_t{7};
  training.first = 8;
  training.steps = 9;
  training.checkpoint_every = 10;
  training.folder = "folder";
  training.kills = {{11, 12}, {13, 14}};
  training.log = "log";
  training.is_rehearsal = true;
  training.trial_writes = 15;
  training.trial_folder = "trial";

  const RankRequest read = RankRequestFromProto(ToProto(request));
  EXPECT_EQ(read.speeds, request.speeds);
  EXPECT_EQ(read.counts.warm_up.least, 1);
  EXPECT_EQ(read.counts.warm_up.time, 2_ms);
  EXPECT_EQ(read.counts.measured.least, 3);
  EXPECT_EQ(read.counts.measured.time, 4_ms);
  EXPECT_EQ(read.states, request.states);
  ASSERT_TRUE(read.training);
  EXPECT_EQ(*read.training, training);
}

TEST(RankRequestTest, StepsAloneAreNoTrainingRun) {
  EXPECT_FALSE(RankRequestFromProto(ToProto(RankRequest())).training);
}

}  // namespace
}  // namespace stagecraft
