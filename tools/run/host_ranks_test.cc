#include "tools/run/host_ranks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "costmodel/error_of.h"
#include "runtime/scratch_folder.h"

namespace stagecraft {
namespace {

TEST(HostRanksTest, AFileThatCannotBeReadIsAnInputError) {
  const std::filesystem::path program = std::filesystem::absolute("tools/run/stagecraft_host_rank");
  setenv("STAGECRAFT_HOST_RANK", program.c_str(), 1);
  const ScratchFolder folder;
  const std::string missing = folder.File("none.pb");
  const std::string error = ErrorOf([&] {
    RunHostRanks(2, {missing, missing, folder.File("out.pb")}, {});
  });
  EXPECT_TRUE(error.starts_with(missing)) << error;
}

}  // namespace
}  // namespace stagecraft
