#include "runtime/cuda/shared_library.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "runtime/cuda/device_op.h"

namespace stagecraft {
namespace {

namespace fs = std::filesystem;

// Any installed library will do, under another name in a Python environment.
TEST(SharedLibraryTest, IsFoundInAPythonEnvironmentLast) {
  const std::string name = "libstagecraft_none.so.9";
  EXPECT_THROW(SharedLibrary{name}, Unsupported);
  const fs::path environment = fs::path(testing::TempDir()) / "shared_library_test";
  const fs::path folder = environment / "lib/python3.11/site-packages/nvidia/none/lib";
  fs::remove_all(environment);
  fs::create_directories(folder);
  fs::create_symlink("/lib/x86_64-linux-gnu/libz.so.1", folder / name);
  setenv("VIRTUAL_ENV", environment.c_str(), 1);
  const SharedLibrary library(name);
  const char* (*const version)() = library["zlibVersion"];
  EXPECT_NE(std::string(version()), "");
  int (*const none)() = library.Find("no_such_function");
  EXPECT_EQ(none, nullptr);
  EXPECT_THROW(library["no_such_function"], Unsupported);
  fs::remove_all(environment);
}

}  // namespace
}  // namespace stagecraft
