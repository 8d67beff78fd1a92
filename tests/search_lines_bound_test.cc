// Tests the bounds of searches as command lines ask for them: networks, stacks, states of layers,
// slow parts and exchanges of all kinds. No bound of a plan may be above its step.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/learned/learned_model.h"
#include "costmodel/memo_model.h"
#include "costmodel/random.h"
#include "search/candidate.h"
#include "search/plan_space.h"
#include "search/space.h"
#include "sim/step/evaluation.h"
#include "tests/enumerated_plans.h"
#include "tools/flags/search_flags.h"
#include "tools/verb/flags.h"

namespace stagecraft {
namespace {

std::vector<std::string> WordsOf(const std::string& line) {
  std::istringstream words(line);
  std::vector<std::string> args;
  for (std::string word; words >> word;) args.push_back(word);
  return args;
}

// Compares the bounds of some plans, drawn from those of the search, with their steps.
void CheckLine(const std::string& line) {
  SCOPED_TRACE(line);
  SearchFlags search;
  Flags flags("search", "Finds plans.");
  search.Register(flags);
  std::ostringstream out;
  ASSERT_FALSE(flags.Parse(WordsOf(line), out));
  const SearchJob job = search.Build();
  const MemoModel memo(LearnedModel::Shipped());
  const SearchProblem problem = job.Problem(memo);
  const std::unique_ptr<PlanSpace> space = MakePlanSpace(problem);
  EnumerateAll(*space);
  Random random(11);
  int checked = 0;
  for (int tried = 0; tried < 1000 && checked < 60; ++tried) {
    const auto last = static_cast<int64_t>(space->size()) - 1;
    const auto index = static_cast<size_t>(random.Integer(0, last));
    if (std::isinf(space->Bound(index))) continue;
    const std::optional<Plan> plan = MakeCandidate(problem, *space, index);
    if (!plan) continue;
    ++checked;
    const Duration step = SimulateStep(*plan, problem.workload, problem.cluster, problem.model,
                                       {.framework = problem.framework})
                              .evaluation.step_time;
    EXPECT_LE(space->LeastTime(index), step) << space->Describe(index);
    EXPECT_LE(space->CloseTime(index), step) << space->Describe(index);
  }
  EXPECT_GT(checked, 20);
}

TEST(SearchLinesBoundTest, NoBoundIsAboveTheStep) {
  const std::string dense =
      "--model megatron:24x2048x16 --cluster a100-sxm4-80gb:2x4 --global-batch 32 --seq 1024 ";
  const std::string mixture =
      "--model qwen3-30b-a3b --cluster h100-sxm:2x4 --global-batch 32 --seq 1024 ";
  for (const std::string& network : {dense, mixture}) {
    for (const char* flags :
         {"--schedule all",
          "--stack megatron-2021 --schedule all",
          "--stack torchtitan",
          "--stack deepspeed --zero 0,1,2,3",
          "--frozen 1-5 --schedule all",
          "--frozen 12-20 --zero 2,3",
          "--offload-optimizer --host-memory-gib 2000",
          "--offload-activations 0.5 --host-memory-gib 2000 --schedule all --zero 1,2,3",
          "--gradient-sync hierarchical --zero 0",
          "--gradient-sync gossip --sync-peers 1 --zero 0",
          "--compiled",
          "--recompute-parts norms --schedule all",
          "--overlap-tp",
          "--overlap-param-gather --zero 1,2,3",
          "--choose-overlap --schedule all",
          "--for megatron-core --choose-overlap",
          "--no-overlap-grad-reduce",
          "--no-overlap-p2p --schedule all",
          "--forward-only --schedule all",
          "--gradient-bytes 2 --zero 2,3",
          "--host-dispatch 20",
          "--optimizer adam8bit"}) {
      CheckLine(network + flags);
    }
  }
}

TEST(SearchLinesBoundTest, NorOnOtherNetworksAndBoards) {
  for (const char* line :
       {"--model megatron:24x2048x16 --cluster a100-sxm4-80gb:1x4+h100-sxm:1x4 --global-batch 32 "
        "--seq 1024 --schedule all",
        "--model megatron:24x2048x16 --cluster a100-pcie-40gb:2x4 --global-batch 32 --seq 1024 "
        "--schedule all --zero 0,1,2,3",
        "--model megatron:24x2048x16 --cluster a100-sxm4-80gb:2x4 --global-batch 32 --seq 1024 "
        "--schedule pipedream,pipedream-2bw --zero 0",
        "--model bert-large --cluster v100-sxm2-32gb:2x8 --global-batch 64 --seq 512 "
        "--precision fp16 --schedule all",
        "--model resnet50 --cluster a100-sxm4-80gb:2x4 --global-batch 256 --precision fp16 "
        "--schedule all",
        "--model llama3-8b --cluster h100-sxm:2x8 --global-batch 64 --seq 8192 --precision fp8 "
        "--schedule all",
        "--model deepseek-v2-lite --cluster h100-sxm:2x8 --global-batch 64 --seq 4096 "
        "--schedule all"}) {
    CheckLine(line);
  }
}

}  // namespace
}  // namespace stagecraft
