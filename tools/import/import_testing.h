// ImportTest: a fixture for tests of `import`, with a folder for files, which runs the verb in
// process.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "costmodel/check.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"
#include "tools/verb/command.h"

namespace stagecraft {

class ImportTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / "stagecraft_import_test";
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& contents) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << contents;
    return path;
  }

  // Imports, and reads the file that was written as --cluster does.
  Cluster Import(Args args, const std::string& extension = ".textproto") {
    const std::string path = (folder_ / ("out" + extension)).string();
    args.insert(args.end(), {"-o", path});
    std::istringstream in;
    std::ostringstream out, err;
    EXPECT_EQ(RunImport(args, in, out, err), kExitOk) << err.str();
    printed_ = out.str();
    return ParseCluster(path);
  }

  // Returns the text of the verb's InputError; empty if it throws none.
  std::string Run(const Args& args) {
    std::istringstream in;
    std::ostringstream out, err;
    try {
      EXPECT_EQ(RunImport(args, in, out, err), kExitOk) << err.str();
    } catch (const InputError& error) {
      return error.what();
    }
    printed_ = out.str();
    return "";
  }

  std::filesystem::path folder_;
  std::string printed_;
};

// A tree of two leaf switches in the format of Slurm's topology.conf.
inline constexpr char kSlurm[] =
    "# two leaves\n"
    "SwitchName=leaf0 Nodes=gpu[000-003]\n"
    "SwitchName=leaf1 Nodes=gpu[004-007] LinkSpeed=100\n"
    "SwitchName=spine Switches=leaf[0-1]\n";

}  // namespace stagecraft
