#include "runtime/scratch_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace stagecraft {
namespace {

TEST(ScratchFolderTest, TheFolderIsRemovedWithItsObject) {
  std::string path;
  {
    const ScratchFolder folder(testing::TempDir()), other(testing::TempDir());
    path = folder.path();
    EXPECT_NE(path, other.path());
    std::ofstream(folder.File("a")) << "b";
    EXPECT_TRUE(std::filesystem::exists(folder.File("a")));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ScratchFolderTest, AParentThatDoesNotExistIsRefused) {
  EXPECT_THROW(ScratchFolder(testing::TempDir() + "/none"), std::runtime_error);
}

}  // namespace
}  // namespace stagecraft
