#include "runtime/cuda/python_libraries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace stagecraft {
namespace {

namespace fs = std::filesystem;

class PythonLibrariesTest : public testing::Test {
 protected:
  PythonLibrariesTest() : root_(fs::path(testing::TempDir()) / "python_libraries_test") {
    fs::remove_all(root_);
  }
  ~PythonLibrariesTest() override { fs::remove_all(root_); }

  // Makes an empty file, and returns its path.
  std::string Touch(const std::string& path) const {
    const fs::path file = root_ / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file).flush();
    return file.string();
  }

  const fs::path root_;
};

TEST_F(PythonLibrariesTest, AreFoundInEveryPackageOfEveryEnvironment) {
  const std::string one = Touch("one/lib/python3.11/site-packages/nvidia/cudnn/lib/libcudnn.so.9");
  const std::string new_wheel =
      Touch("two/lib/python3.12/site-packages/nvidia/cu13/lib/libcudnn.so.9");
  const std::string other =
      Touch("two/lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.9");
  const std::string of_system =
      Touch("two/lib/python3/dist-packages/nvidia/cudnn/lib/libcudnn.so.9");
  Touch("two/lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.8");
  Touch("two/lib/python3.12/site-packages/other/lib/libcudnn.so.9");
  Touch("two/lib/node/site-packages/nvidia/cudnn/lib/libcudnn.so.9");
  EXPECT_EQ(PythonLibraries("libcudnn.so.9", {root_ / "none", root_ / "one", root_ / "two"}),
            (std::vector{one, of_system, new_wheel, other}));
  EXPECT_TRUE(PythonLibraries("libnccl.so.2", {root_ / "one"}).empty());
}

TEST_F(PythonLibrariesTest, StubsAndDriversForOlderOnesAreLeftOut) {
  Touch("env/lib/python3.11/site-packages/nvidia/cu13/lib/stubs/libcuda.so.1");
  Touch("env/lib/python3.11/site-packages/nvidia/stubs/lib/libcuda.so.1");
  Touch("env/lib/python3.11/site-packages/nvidia/compat/lib/libcuda.so.1");
  Touch("env/lib/python3.11/site-packages/nvidia/cu13/compat/libcuda.so.1");
  EXPECT_TRUE(PythonLibraries("libcuda.so.1", {root_ / "env"}).empty());
}

TEST_F(PythonLibrariesTest, TheEnvironmentInUseComesFirst) {
  setenv("VIRTUAL_ENV", "/somewhere/venv", 1);
  setenv("CONDA_PREFIX", "/opt/conda", 1);
  const std::vector<fs::path> found = PythonEnvironments();
  ASSERT_GE(found.size(), 4u);
  EXPECT_EQ(found[0], "/somewhere/venv");
  EXPECT_EQ(found[1], "/opt/conda");
  EXPECT_EQ(std::count(found.begin(), found.end(), "/opt/conda"), 1);
}

}  // namespace
}  // namespace stagecraft
