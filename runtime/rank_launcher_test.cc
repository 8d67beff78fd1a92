#include "runtime/rank_launcher.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace stagecraft {
namespace {

// Runs a few processes, and returns the folder that each of them names for what they share.
std::vector<std::string> SharedFolders(int ranks) {
  std::vector<std::string> folders;
  const std::string command = "echo \"" + RankLine("$OMPI_MCA_btl_vader_backing_directory") + "\"";
  const LaunchEnd end = LaunchRanks(ranks, {"sh", "-c", command}, [&](const std::string& line) {
    folders.push_back(line);
    EXPECT_TRUE(std::filesystem::is_directory(line)) << line;
  });
  EXPECT_EQ(end.exit_code, 0);
  return folders;
}

// In containers that share memory, two mpiruns may have the same process number, by which they
// would otherwise name what their ranks share.
TEST(RankLauncherTest, RunsShareNoFiles) {
  std::set<std::string> all;
  for (int run = 0; run < 2; ++run) {
    const std::vector<std::string> folders = SharedFolders(2);
    ASSERT_EQ(folders.size(), 2u);
    EXPECT_EQ(folders[0], folders[1]);
    EXPECT_FALSE(std::filesystem::exists(folders[0]));
    all.insert(folders[0]);
  }
  EXPECT_EQ(all.size(), 2u);
}

}  // namespace
}  // namespace stagecraft
