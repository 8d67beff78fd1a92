// Tests that binary messages with wrong bytes lead to one line of error, even if protobuf would
// have printed something itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "costmodel/proto_file.h"
#include "costmodel/random.h"
#include "data/embedded.h"
#include "proto/onnx_subset.pb.h"
#include "tests/bad_input.h"
#include "tests/fuzz/mutator.h"

namespace stagecraft::bad_input {
namespace {

namespace fs = std::filesystem;

constexpr int kMutations = 150;  // for each file, in each of the two ways

std::string Seed(const std::string& name) {
  return ReadFile((fs::path("tests/fuzz/corpus") / name).string());
}

std::string Onnx(const std::string& seed) {
  onnx::ModelProto model;
  ParseProtoText(Seed(seed), seed, ".textproto", &model);
  return model.SerializeAsString();
}

// Replaces up to four letters by bytes that are not UTF-8, so that lengths stay correct, but names
// do not.
std::string WithBadNames(std::string bytes, Random random) {
  std::vector<size_t> letters;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] >= 'a' && bytes[i] <= 'z') letters.push_back(i);
  }
  for (int64_t left = random.Integer(1, 4); left > 0; --left) {
    const int64_t at = random.Integer(0, static_cast<int64_t>(letters.size()) - 1);
    bytes[letters[static_cast<size_t>(at)]] = '\xff';
  }
  return bytes;
}

class DamagedMessagesTest : public FolderTest {
 protected:
  // Tries all mutations, and returns how many were refused.
  int CountRefused(const std::string& name, const std::string& bytes,
                   const std::vector<std::string>& lines) {
    int refused = 0;
    for (int i = 0; i < kMutations; ++i) {
      const Random random = Random(1).Child(name, static_cast<uint64_t>(i));
      for (const std::string& damaged :
           {WithBadNames(bytes, random), fuzz::Mutate({&bytes, 1}, random)}) {
        Write(name, damaged);
        refused += Check(lines[static_cast<size_t>(i) % lines.size()], i) ? 1 : 0;
      }
    }
    return refused;
  }

 private:
  bool Check(const std::string& line, int number) {
    testing::internal::CaptureStderr();
    const Result result = RunLine(Expand(line));
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << number << ": " << line;
    EXPECT_TRUE(result.code == kExitOk || result.code == kExitBadInput) << number << ": " << line;
    if (result.code != kExitBadInput) return false;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    return true;
  }
};

TEST_F(DamagedMessagesTest, DamagedCostModelsAreRefusedInOneLine) {
  EXPECT_GT(CountRefused("model.pb", std::string(EmbeddedNetworkModel()),
                         {"check $T/model.pb",
                          "evaluate --cost-model $T/model.pb --network "
                          "tests/fuzz/corpus/collective_table/logs.csv"}),
            kMutations / 4);
  EXPECT_GT(CountRefused("kernels.pb", std::string(EmbeddedCostModel()).substr(0, 20000),
                         {"check $T/kernels.pb",
                          "simulate --model gpt2 --cluster h100-sxm:1x1 --global-batch 1 --seq 128 "
                          "--cost-model $T/kernels.pb"}),
            kMutations);
}

TEST_F(DamagedMessagesTest, DamagedTimelinesAreRefusedInOneLine) {
  EXPECT_GT(CountRefused("step.pb", Seed("timeline/one_device.pb"),
                         {"check $T/step.pb", "compare $T/step.pb $T/step.pb"}),
            kMutations / 4);
}

TEST_F(DamagedMessagesTest, DamagedOnnxModelsAreRefusedInOneLine) {
  for (const char* seed : {"onnx_model/mlp.textproto", "onnx_model/convolutions.textproto"}) {
    EXPECT_GT(CountRefused("net.onnx", Onnx(seed),
                           {"check $T/net.onnx",
                            "simulate --cluster h100-sxm:1x1 --global-batch 1 --model $T/net.onnx",
                            "partition --algorithm pipedream --machines 2 --bandwidth 1e9 "
                            "--model $T/net.onnx"}),
              kMutations / 4);
  }
}

}  // namespace
}  // namespace stagecraft::bad_input
