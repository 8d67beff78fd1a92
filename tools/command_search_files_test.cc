// The files that `search` writes: the best plan, and what starts it in a framework.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "costmodel/proto_file.h"
#include "tools/verb/command.h"
#include "tools/verb/verb_testing.h"

namespace stagecraft {
namespace {

// The network is one that Megatron-LM can build.
const Args kModel = {"--model", "megatron:8x1024x16", "--quiet"};

class SearchFilesTest : public VerbTest {
 protected:
  // Return the arguments of search and of the verbs that read its files.
  static Args ToSearch(const std::string& cluster, const Args& flags) {
    Args args = ToUse(cluster, flags);
    args.insert(args.end(), {"--seq", "1024", "--global-batch", "32"});
    return args;
  }
  static Args ToUse(const std::string& cluster, const Args& flags) {
    Args args = flags;
    args.insert(args.end(), kModel.begin(), kModel.end());
    args.insert(args.end(), {"--cluster", cluster});
    return args;
  }
};

// The file that search writes is a plan, whose simulated step takes as long as search reports.
TEST_F(SearchFilesTest, AWrittenPlanSimulatesAlike) {
  const std::string file = Path("best.yaml");
  const auto found = Json(RunSearch, ToSearch("h100-sxm:1x8", {"-o", file}));
  const auto simulated = Json(RunSimulate, ToUse("h100-sxm:1x8", {"--plan", file}));
  EXPECT_EQ(simulated["step_time_ms"], found["plans"][0]["evaluation"]["step_time_ms"]);
}

// What the software of a stack takes is the same in search and simulate, to the byte, for every
// plan that is simulated again.
TEST_F(SearchFilesTest, TheBestPlanOfAStackTakesTheMemoryThatItsSimulationSays) {
  const std::string file = Path("best.yaml");
  const auto best = [&](const Args& stack) {
    Args flags = stack;
    flags.insert(flags.end(), {"-o", file, "--zero", "3", "--pp", "1,2"});
    return Json(RunSearch, ToSearch("h100-sxm:1x4", flags))["plans"][0]["evaluation"];
  };
  const auto plain = best({});
  for (const Args& stack : {Args{"--stack", "fsdp"}, Args{"--stack", "megatron-deepspeed"},
                            Args{"--stack", "ddp", "--software-date", "2023-05"}}) {
    const auto found = best(stack);
    Args flags = stack;
    flags.insert(flags.end(), {"--plan", file});
    const auto simulated = Json(RunSimulate, ToUse("h100-sxm:1x4", flags));
    EXPECT_EQ(simulated["memory"], found["memory"]) << stack[1];
    EXPECT_EQ(simulated["step_time_ms"], found["step_time_ms"]) << stack[1];
    EXPECT_NE(found["memory"], plain["memory"]) << stack[1];
    EXPECT_EQ(simulated["plan"]["stack"]["name"], stack[1]);
  }
}

TEST_F(SearchFilesTest, TheLaunchFileOfTheBestPlanIsThatOfExport) {
  const std::string plan = Path("best.yaml"), launch = Path("best.sh"),
                    exported = Path("exported.sh");
  const Args flags = {"--for", "megatron-core", "--tp", "2", "--pp", "2", "--no-explain", "-o",
                      plan,    "--launch",      launch};
  const std::string text = Output(RunSearch, ToSearch("h100-sxm:1x8", flags));
  EXPECT_NE(text.find("note: CUDA_DEVICE_MAX_CONNECTIONS is 1"), std::string::npos) << text;
  const Args of_export = {"megatron", "--plan", plan, "-o", exported};
  EXPECT_EQ(Run(RunExport, ToUse("h100-sxm:1x8", of_export)), kExitOk);
  const std::string written = ReadFile(launch);
  EXPECT_EQ(written, ReadFile(exported));
  EXPECT_NE(written.find("--pipeline-model-parallel-size 2"), std::string::npos) << written;
}

TEST_F(SearchFilesTest, LaunchFilesThatCannotBeWrittenAreRefusedBeforeTheSearch) {
  const std::string launch = Path("refused.sh");
  const auto error = [&](const Args& flags) {
    return ErrorOf(RunSearch, ToSearch("h100-sxm:1x8", flags));
  };
  EXPECT_EQ(error({"--launch", launch}),
            "--launch: got it without --for, want the framework that is to run the plan");
  EXPECT_EQ(error({"--for", "fsdp", "--launch", launch}),
            "--launch: PyTorch FSDP is started by code, which is not written; want another --for, "
            "or -o");
  EXPECT_EQ(error({"--for", "deepspeed", "--launch", launch}),
            "--launch: got \"" + launch + "\", want a .json file");
}

}  // namespace
}  // namespace stagecraft
