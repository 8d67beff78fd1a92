#include "tools/ranks/launched_rank.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "costmodel/error_of.h"

namespace stagecraft {
namespace {

Environment Of(const std::map<std::string, std::string>& variables) {
  return [variables](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

TEST(LaunchedRankTest, MpirunSaysWhichRankAProcessIs) {
  const auto launched = FindLaunchedRank(Of({{"OMPI_COMM_WORLD_RANK", "3"},
                                             {"OMPI_COMM_WORLD_SIZE", "8"},
                                             {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}));
  ASSERT_TRUE(launched);
  EXPECT_EQ(launched->rank, 3);
  EXPECT_EQ(launched->size, 8);
  EXPECT_EQ(launched->local_size, 4);
  EXPECT_EQ(launched->variable, "OMPI_COMM_WORLD_RANK");
}

TEST(LaunchedRankTest, AProcessThatNoneLaunchedHasNoRank) {
  EXPECT_FALSE(FindLaunchedRank(Of({})));
  // A batch script, which is no rank of a step.
  EXPECT_FALSE(FindLaunchedRank(Of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}})));
  EXPECT_FALSE(FindLaunchedRank(Of({{"PMI_RANK", "0"}})));
}

TEST(LaunchedRankTest, VariablesThatDoNotGoTogetherAreRefused) {
  const auto error = [](const std::string& rank, const std::string& size) {
    return ErrorOf([&] { FindLaunchedRank(Of({{"PMI_RANK", rank}, {"PMI_SIZE", size}})); });
  };
  EXPECT_EQ(error("4", "4"),
            "PMI_RANK: got 4 in the environment, want less than PMI_SIZE, which is 4");
  EXPECT_EQ(error("x", "4"), "PMI_RANK: got \"x\" in the environment, want a whole number");
  EXPECT_EQ(error("-1", "4"), "PMI_RANK: got \"-1\" in the environment, want a whole number");
}

}  // namespace
}  // namespace stagecraft
