#include "tools/flags/framework_choices.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload_catalogue.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

const TrainingFramework& Find(const char* id) { return *FrameworkTable::Embedded().Find(id); }

std::string Search(Args flags) {
  Args args = {"--model", "gpt2-medium",   "--cluster", "h100-sxm:1x8", "--global-batch",
               "32",      "--seq",         "512",       "--no-explain", "--quiet",
               "--json",  "--micro-batch", "1,2"};
  args.insert(args.end(), flags.begin(), flags.end());
  std::ostringstream out, err;
  std::istringstream in;
  RunSearch(args, in, out, err);
  return out.str();
}

TEST(FrameworkChoicesTest, OpenChoicesBecomeWhatTheFrameworkHas) {
  PlanDegrees given;
  Choices choices;
  const std::vector<std::string> notes = RestrictChoices(Find("megatron-core"), given, choices);
  EXPECT_EQ(choices.zeros, (std::vector<int>{0, 1}));
  EXPECT_EQ(choices.schedules.size(), 2u);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0],
            "Megatron-LM has other ZeRO stages without pipelines, which are tried with --pp 1");
  choices = {};
  choices.pipeline = {1};
  RestrictChoices(Find("megatron-core"), given, choices);
  EXPECT_EQ(choices.zeros, (std::vector<int>{0, 1, 2, 3}));
}

TEST(FrameworkChoicesTest, OnlyWhatTheFrameworkOverlapsIsChosen) {
  const auto restricted = [](const char* framework) {
    PlanDegrees given;
    Choices choices;
    choices.chooses_tensor_overlap = true;
    choices.chooses_gather_overlap = true;
    choices.chooses_send_overlap = true;
    RestrictChoices(Find(framework), given, choices);
    return choices;
  };
  const std::vector<PipelineSchedule> plain = {PipelineSchedule::kOneForwardOneBackward};
  const Choices megatron = restricted("megatron-core");
  EXPECT_TRUE(megatron.chooses_tensor_overlap);
  EXPECT_TRUE(megatron.chooses_gather_overlap);
  EXPECT_EQ(megatron.waiting_schedules, plain);
  const Choices deepspeed = restricted("deepspeed");
  EXPECT_FALSE(deepspeed.chooses_tensor_overlap);
  EXPECT_FALSE(deepspeed.chooses_gather_overlap);
  EXPECT_EQ(deepspeed.waiting_schedules, plain);
  const Choices torchtitan = restricted("torchtitan");
  EXPECT_TRUE(torchtitan.chooses_tensor_overlap);
  EXPECT_FALSE(torchtitan.chooses_gather_overlap);
  EXPECT_TRUE(torchtitan.waiting_schedules.empty());
  PlanDegrees given;
  Choices choices;
  RestrictChoices(Find("megatron-core"), given, choices);
  EXPECT_TRUE(choices.waiting_schedules.empty());  // nothing is left open
}

TEST(FrameworkChoicesTest, FsdpIsDataParallelAlone) {
  PlanDegrees given;
  Choices choices;
  RestrictChoices(Find("fsdp"), given, choices);
  EXPECT_EQ(choices.pipeline, std::vector<int>{1});
  EXPECT_EQ(choices.tensor, std::vector<int>{1});
  EXPECT_EQ(choices.context, std::vector<int>{1});
  EXPECT_EQ(given.sequence_parallel, 0);
}

TEST(FrameworkChoicesTest, WhatWasAskedForAndIsMissingIsRefused) {
  const auto error = [](const char* framework, const Choices& asked) {
    return ErrorOf([&] {
      PlanDegrees given;
      Choices choices = asked;
      RestrictChoices(Find(framework), given, choices);
    });
  };
  Choices schedule, zero, tensor;
  schedule.schedules = {PipelineSchedule::kZeroBubbleV};
  zero.zeros = {2};
  tensor.tensor = {2};
  EXPECT_EQ(error("megatron-core", schedule),
            "--schedule: got zb-v, which Megatron-LM does not have, want another or no --for");
  EXPECT_EQ(error("deepspeed", zero),
            "--zero: got 2, which DeepSpeed does not have in pipelines (--pp 1 leaves them out), "
            "want another or no --for");
  EXPECT_EQ(error("fsdp", tensor),
            "--tp: got 2, which PyTorch FSDP does not have, want another or no --for");
}

TEST(FrameworkChoicesTest, ASearchFindsOnlyPlansThatTheFrameworkCanRun) {
  for (const char* framework : {"megatron-core", "deepspeed", "fsdp"}) {
    const auto report = nlohmann::json::parse(Search({"--for", framework, "--top", "4"}));
    ASSERT_FALSE(report["plans"].empty()) << framework;
    EXPECT_LE(report["plans"].size(), 4u);
    for (const auto& ranked : report["plans"]) {
      const auto& plan = ranked["plan"];
      const int stages = plan["pp"], zero = plan["zero"], tensor = plan["tp"];
      const std::string name = framework;
      EXPECT_TRUE(stages == 1 || zero <= 1) << framework;
      EXPECT_TRUE(name != "deepspeed" || stages == 1 || tensor == 1) << framework;
      EXPECT_TRUE(name != "fsdp" || stages * tensor == 1) << framework;
    }
  }
}

TEST(FrameworkChoicesTest, PlansThatTheFrameworkCannotRunAreDropped) {
  const Workload workload = LoadWorkload("gpt2-medium", AttentionBackend::kFlash);
  const Cluster cluster = ParseCluster("h100-sxm:1x8");
  const auto plan_of = [&](PipelineSchedule schedule) {
    PlanDegrees degrees;
    degrees.pipeline = 2;
    degrees.data = 4;
    degrees.global_batch = 32;
    degrees.sequence = 512;
    degrees.schedule = schedule;
    RankedPlan ranked;
    ranked.plan = MakePlan(degrees, workload, cluster);
    return ranked;
  };
  const RankedPlan runs = plan_of(PipelineSchedule::kOneForwardOneBackward);
  const RankedPlan cannot = plan_of(PipelineSchedule::kZeroBubbleH1);
  std::vector<RankedPlan> plans = {cannot, runs};
  EXPECT_EQ(DropOthers(Find("megatron-core"), workload, plans), "");
  ASSERT_EQ(plans.size(), 1u);
  EXPECT_EQ(plans[0].plan.schedule, PipelineSchedule::kOneForwardOneBackward);

  plans = {cannot, cannot};
  EXPECT_TRUE(DropOthers(Find("megatron-core"), workload, plans)
                  .starts_with("of the best 2 plans megatron-core can run none ("));
  EXPECT_TRUE(plans.empty());
  EXPECT_EQ(DropOthers(Find("megatron-core"), workload, plans), "");
}

TEST(FrameworkChoicesTest, UnknownFrameworksAreRefused) {
  EXPECT_EQ(ErrorOf([] {
              Search({"--for", "megatron"});
            }).substr(0, 40),
            "--for: got \"megatron\"; did you mean \"meg");
}

}  // namespace
}  // namespace stagecraft
