// What profile refuses before it measures; tests have no GPU.
#include <gtest/gtest.h>

#include <filesystem>

#include "tools/verb/command.h"
#include "tools/verb/sample_testing.h"

namespace stagecraft {
namespace {

class ProfileVerbTest : public SampleVerbTest {
 protected:
  std::string Error(const Args& args) { return ErrorOf(RunProfile, args); }
};

TEST_F(ProfileVerbTest, WithoutCudaOrWithoutAGpuItSaysSoInOneLine) {
  const std::string error = Error({"--device", "cuda:63", "-o", Path("new.csv")});
  EXPECT_TRUE(error.starts_with("--device: got ")) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos);
  EXPECT_NE(error.find("want "), std::string::npos) << error;
  EXPECT_FALSE(std::filesystem::exists(Path("new.csv")));
}

TEST_F(ProfileVerbTest, FlagsAreCheckedBeforeTheDevice) {
  const std::string file = Path("new.csv");
  EXPECT_TRUE(Error({"-o", file}).starts_with("--device: got none"));
  EXPECT_TRUE(Error({"--device", "tpu:0", "-o", file}).starts_with("--device: got \"tpu:0\""));
  EXPECT_TRUE(Error({"--device", "cuda:x", "-o", file}).starts_with("--device: got \"cuda:x\""));
  EXPECT_TRUE(Error({"--device", "cuda:0"}).starts_with("-o: got no file"));
  EXPECT_TRUE(Error({"--device", "cuda:0", "-o", Path("new.txt")}).starts_with("-o: got "));
  EXPECT_TRUE(Error({"--device", "cuda:0", "--suite", "huge", "-o", file}).starts_with("--suite"));
  EXPECT_TRUE(
      Error({"--device", "cuda:0", "--kernels", "-o", Path("k.pb")}).starts_with("-o: got "));
  EXPECT_TRUE(Error({"--device", "cuda:0", "--kernels", "--resume", "-o", file})
                  .starts_with("--kernels: got "));
  EXPECT_EQ(Error({"--device", "host:1", "-o", file}),
            "--device: got host:1, want host, which names no CPU core");
  for (const char* budget : {"540", "-1s", "nans", "s", "10m", " 5s", "0x5s"}) {
    EXPECT_TRUE(
        Error({"--device", "cuda:0", "--budget", budget, "-o", file}).starts_with("--budget: got "))
        << budget;
  }
}

TEST_F(ProfileVerbTest, APartIsADeviceOfAClusterOfParts) {
  const std::string file = Path("new.csv");
  const auto error = [&](const Args& flags) {
    Args args = {"--device", "cuda:0", "-o", file};
    args.insert(args.end(), flags.begin(), flags.end());
    return Error(args);
  };
  EXPECT_EQ(error({"--part", "1"}),
            "--part: got one without --cluster, want the cluster whose device it is");
  EXPECT_EQ(error({"--cluster", "h100-sxm:1x2", "--gpu", "h100-sxm"}),
            "--cluster: got --gpu too, want one GPU, whose type the cluster gives");
  EXPECT_EQ(Error({"--device", "cuda:0,1", "--cluster", "h100-sxm:1x2", "-o", file}),
            "--cluster: got several devices too, want one GPU, whose type the cluster gives");
  EXPECT_TRUE(
      error({"--cluster", "h100-sxm:1x2"})
          .ends_with("want a cluster of parts of one GPU, as import local-gpu --parts makes"));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(ProfileVerbTest, SeveralDevicesMakeATableOfCollectives) {
  const std::string file = Path("new.csv");
  EXPECT_EQ(Error({"--device", "cuda:0,1", "--resume", "-o", file}),
            "--resume: got several devices too, want one");
  EXPECT_EQ(Error({"--device", "cuda:0,1", "--kernels", "-o", file}),
            "--kernels: got several devices too, want one");
  EXPECT_TRUE(Error({"--device", "cuda:0,1", "-o", Path("new.pb")}).starts_with("-o: got "));
  EXPECT_TRUE(Error({"--device", "tpu:0,1", "-o", file}).starts_with("--device: got \"tpu:0,1\""));
  EXPECT_TRUE(Error({"--device", "cuda:0,x", "-o", file}).starts_with("--device: got '0,x'"));
  EXPECT_TRUE(Error({"--device", "cuda:0,", "-o", file}).starts_with("--device: got '0,'"));
  EXPECT_EQ(Error({"--device", "cuda:1,1", "-o", file}),
            "--device: got \"cuda:1,1\", want each device once");
  const std::string error = Error({"--device", "cuda:62,63", "-o", file});
  EXPECT_TRUE(error.starts_with("--device: got ")) << error;
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(ProfileVerbTest, HelpHasAnExample) {
  EXPECT_EQ(Run(RunProfile, {"--help"}), kExitOk);
  EXPECT_NE(out_.str().find("stagecraft profile --device cuda:0"), std::string::npos);
}

}  // namespace
}  // namespace stagecraft
