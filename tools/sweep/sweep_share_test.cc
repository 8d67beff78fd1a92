#include "tools/sweep/sweep_share.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "costmodel/error_of.h"

namespace stagecraft {
namespace {

using Variables = std::map<std::string, std::string>;

Environment Of(const Variables& variables) {
  return [variables](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

TEST(SweepShareTest, SharesAreDisjointAndComplete) {
  for (const int64_t shards : {1, 3, 50}) {
    for (const int64_t ranks : {1, 4}) {
      for (int64_t point = 0; point < 40; ++point) {
        int owners = 0;
        for (int64_t shard = 0; shard < shards; ++shard) {
          for (int64_t rank = 0; rank < ranks; ++rank) {
            SweepShare share;
            share.shard = shard;
            share.shards = shards;
            share.rank = rank;
            share.ranks = ranks;
            owners += share.Has(point);
          }
        }
        EXPECT_EQ(owners, 1) << shards << " " << ranks << " " << point;
      }
    }
  }
}

TEST(SweepShareTest, WithoutFlagsAndVariablesAProcessTakesAllPoints) {
  const SweepShare share = ShareOf("", {}, Of({}));
  EXPECT_TRUE(share.Has(0) && share.Has(1) && share.Has(17));
  EXPECT_TRUE(share.notes.empty());
  EXPECT_EQ(PathOfShard("runs.db", share), "runs.db");
}

TEST(SweepShareTest, AFlagSaysWhichShardAndTheFileKeepsItsName) {
  const SweepShare share = ShareOf("3/8", {}, Of({{"SLURM_ARRAY_TASK_ID", "5"}}));
  EXPECT_EQ(share.shard, 3);
  EXPECT_EQ(share.shards, 8);
  EXPECT_EQ(PathOfShard("runs.db", share), "runs.db");
}

TEST(SweepShareTest, ASlurmArrayNeedNotBeginAtZero) {
  const SweepShare share = ShareOf("", {},
                                   Of({{"SLURM_ARRAY_TASK_ID", "14"},
                                       {"SLURM_ARRAY_TASK_COUNT", "4"},
                                       {"SLURM_ARRAY_TASK_MIN", "10"},
                                       {"SLURM_ARRAY_TASK_STEP", "2"}}));
  EXPECT_EQ(share.shard, 2);
  EXPECT_EQ(share.shards, 4);
  EXPECT_EQ(PathOfShard("out/runs.db", share), "out/runs.2-of-4.db");
  ASSERT_EQ(share.notes.size(), 1u);
  EXPECT_EQ(share.notes[0], "shard 2/4: SLURM_ARRAY_TASK_ID is 14, the first is 10");
}

TEST(SweepShareTest, AnIndexedJobOfKubernetesNeedsItsCount) {
  const Environment environment = Of({{"JOB_COMPLETION_INDEX", "2"}});
  const SweepShare share = ShareOf("", 5, environment);
  EXPECT_EQ(share.shard, 2);
  EXPECT_EQ(share.shards, 5);
  EXPECT_NE(ErrorOf([&] { ShareOf("", {}, environment); }).find("JOB_COMPLETION_INDEX is 2"),
            std::string::npos);
  EXPECT_EQ(ErrorOf([&] { ShareOf("", 2, environment); }),
            "--shards: got 2, want more than JOB_COMPLETION_INDEX, which is 2");
}

TEST(SweepShareTest, LaunchersOfMpiSayWhichRankAProcessIs) {
  for (const auto& [rank, size] : {std::pair("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
                                   {"PMI_RANK", "PMI_SIZE"},
                                   {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"}}) {
    const SweepShare share = ShareOf("1/2", {}, Of({{rank, "3"}, {size, "4"}}));
    EXPECT_EQ(share.rank, 3) << rank;
    EXPECT_EQ(share.ranks, 4) << rank;
    EXPECT_EQ(share.shard, 1) << rank;
    EXPECT_EQ(share.notes.size(), 1u) << rank;
  }
  // A batch script that is no rank of a step.
  EXPECT_EQ(ShareOf("", {}, Of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}})).ranks, 1);
}

TEST(SweepShareTest, MistakesNameTheFlagOrTheVariable) {
  for (const char* bad : {"4/4", "-1/4", "1", "1/", "/4", "a/b", "0/0", "1/2/3"}) {
    EXPECT_EQ(ErrorOf([&] { ShareOf(bad, {}, Of({})); }),
              std::string("--shard: got \"") + bad +
                  "\", want INDEX/COUNT, the first shard of four being 0/4");
  }
  EXPECT_NE(ErrorOf([] { ShareOf("0/2", 2, Of({})); }).find("--shards"), std::string::npos);
  EXPECT_NE(ErrorOf([] { ShareOf("", 2, Of({})); }).find("want --shard INDEX/COUNT"),
            std::string::npos);
  EXPECT_NE(ErrorOf([] {
              ShareOf("", {}, Of({{"SLURM_ARRAY_TASK_ID", "x"}, {"SLURM_ARRAY_TASK_COUNT", "4"}}));
            }).find("SLURM_ARRAY_TASK_ID: got \"x\""),
            std::string::npos);
  EXPECT_NE(ErrorOf([] {
              ShareOf("", {}, Of({{"SLURM_ARRAY_TASK_ID", "9"}, {"SLURM_ARRAY_TASK_COUNT", "3"}}));
            }).find("want an array without gaps"),
            std::string::npos);
  EXPECT_NE(ErrorOf([] {
              ShareOf("", {}, Of({{"OMPI_COMM_WORLD_RANK", "4"}, {"OMPI_COMM_WORLD_SIZE", "4"}}));
            }).find("OMPI_COMM_WORLD_RANK: got 4"),
            std::string::npos);
  EXPECT_EQ(ErrorOf([] {
              ShareOf("", {},
                      Of({{"OMPI_COMM_WORLD_RANK", "0"},
                          {"OMPI_COMM_WORLD_SIZE", "2"},
                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "0"}}));
            }),
            "OMPI_COMM_WORLD_LOCAL_SIZE: got 0 in the environment, want 1 or more");
}

}  // namespace
}  // namespace stagecraft
