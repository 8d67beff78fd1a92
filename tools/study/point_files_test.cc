#include "tools/study/point_files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace stagecraft {
namespace {

namespace fs = std::filesystem;
using Files = std::vector<std::string>;

// Tests in a folder that has a config.json itself.
class PointFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    before_ = fs::current_path();
    const fs::path folder = fs::path(std::getenv("TEST_TMPDIR")) / "point_files";
    fs::create_directories(folder / "network");
    fs::current_path(folder);
    for (const char* name : {"config.json", "a.csv", "network/config.json"}) {
      const std::ofstream file(name);
    }
  }
  void TearDown() override { fs::current_path(before_); }

 private:
  fs::path before_;
};

TEST_F(PointFilesTest, AValueNamesAFileAFolderOrAList) {
  EXPECT_EQ(FilesNamedBy("a.csv"), Files{"a.csv"});
  EXPECT_EQ(FilesNamedBy("network"), Files{"network/config.json"});
  EXPECT_EQ(FilesNamedBy("a.csv,network"), (Files{"a.csv", "network/config.json"}));
  EXPECT_EQ(FilesNamedBy("8"), Files{});
}

TEST_F(PointFilesTest, AnEmptyValueOrPartDoesNotNameTheWorkingFolder) {
  EXPECT_EQ(FilesNamedBy(""), Files{});
  EXPECT_EQ(FilesNamedBy("a.csv,"), Files{"a.csv"});
}

}  // namespace
}  // namespace stagecraft
