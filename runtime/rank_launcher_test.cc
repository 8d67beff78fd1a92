#include "runtime/rank_launcher.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace stagecraft {
namespace {

// Where the processes of one run say that what they share lies.
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

// Containers with memory in common number their processes alike, so that two mpirun there would
// otherwise give the same names to what their ranks share.
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
