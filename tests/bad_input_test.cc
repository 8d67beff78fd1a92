// Tests that whatever a user gets wrong leads to exit code 2 and one sentence on stderr that names
// the place, with nothing on stdout and nothing written.
#include "tests/bad_input.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace stagecraft {
namespace {

using bad_input::Case;
using bad_input::Result;
using bad_input::RunLine;

// Command lines that are right, but for what a case appends. No flag may be given twice, so there
// is one without each of the flags that cases replace.
const char kBase[] =
    "simulate --model llama3-8b --cluster h100-sxm:1x8 --global-batch 8 --seq 512 ";
const char kNoModel[] = "simulate --cluster h100-sxm:1x8 --global-batch 8 --seq 512 ";
const char kNoCluster[] = "simulate --model llama3-8b --global-batch 8 --seq 512 ";
const char kNoBatch[] = "simulate --model llama3-8b --cluster h100-sxm:1x8 --seq 512 ";

std::vector<Case> Cases() {
  const std::string base = kBase;
  const std::string no_model = kNoModel;
  const std::string no_cluster = kNoCluster;
  const std::string no_batch = kNoBatch;
  return {
      {"simulat --model llama3-8b", "simulate"},
      {"--frobnicate", "unknown verb"},
      {no_model, "--model"},
      {no_cluster, "--cluster"},
      {base + "--frobnicate 3", "--frobnicate"},
      {base + "--micro-bach 3", "--micro-batch"},
      {base + "--tp", "--tp"},
      {base + "--tp two", "two"},
      {base + "--tp 2.5", "2.5"},
      {base + "--tp nan", "nan"},
      {base + "--tp 99999999999999999999", "--tp"},
      {base + "--tp 0", "--tp: got 0, want 1 or more"},
      {base + "--tp -1", "--tp: got -1, want 1 or more"},
      {base + "--tp 3", "does not divide"},
      {base + "--tp 16", "does not divide"},
      {base + "--pp 0", "--pp: got 0, want 1 or more"},
      {base + "--pp 3", "does not divide"},
      {base + "--tp 2 --pp 2 --dp 4", "tp 2 x cp 1 x pp 2 x dp 4 = 16"},
      {base + "--dp 3", "dp 3"},
      {base + "--vpp 0", "--vpp: got 0, want 1 or more"},
      {base + "--pp 8 --vpp 40", "layers of llama-3-8b"},
      {base + "--pp 2 --vpp 2147483647", "virtual stages"},
      {base + "--ep 2", "expert"},
      {base + "--cp 3", "cp 3"},
      {base + "--micro-batch 0", "micro-batch"},
      {base + "--micro-batch 3", "not a multiple"},
      {no_batch + "--global-batch 0", "--global-batch: got 0, want 1 or more"},
      {no_batch + "--global-batch -8", "--global-batch: got -8, want 1 or more"},
      {no_batch + "--global-batch 9", "not a multiple"},
      {no_batch + "--global-batch 1e3", "1e3"},
      {no_batch + "--global-batch 99999999999", "global batch"},
      {no_batch + "--global-batch 8 --seq 0 --seq 1", "--seq"},
      {"simulate --model llama3-8b --cluster h100-sxm:1x8 --global-batch 8 --seq -5",
       "--seq: got -5"},
      {"simulate --model llama3-8b --cluster h100-sxm:1x8 --global-batch 8 --seq 0",
       "--seq: got 0, want 1 or more"},
      {base + "--dp 0", "--dp: got 0, want 1 or more"},
      {base + "--zero -1", "--zero: got -1, want 0 to 3"},
      {base + "--zero-group 0", "--zero-group: got 0, want 1 or more"},
      {base + "--sync-peers 0", "--sync-peers: got 0, want 1 or more"},
      {"search --model llama3-8b --cluster h100-sxm:1x8 --global-batch 8 --seq 9223372036854775807",
       "sequence: got 9223372036854775807, want 1 to 1000000000"},
      {"search --model llama3-8b --cluster h100-sxm:1x8 --global-batch 0",
       "--global-batch: got 0, want 1 or more"},
      {"search --model llama3-8b --cluster h100-sxm:1x8 --global-batch 8 --embedding-placement "
       "vocab-1",
       "--embedding-placement: got vocab-1, which is not searched, want first-last or "
       "redistributed"},
      {base + "--schedule zigzag", "zigzag"},
      {base + "--schedule interleaved", "interleaved"},
      {base + "--pp 2 --vpp 2 --schedule gpipe", "gpipe"},
      {base + "--recompute some", "some"},
      {base + "--offload-optimizer", "host_memory_bytes"},
      {base + "--offload-optimizer --host-memory-gib -1", "--host-memory-gib"},
      {base + "--offload-optimizer --host-memory-gib nan", "--host-memory-gib"},
      {base + "--offload-optimizer --host-memory-gib 512 --optimizer sgd", "adam"},
      {base + "--offload-activations 0.5", "host_memory_bytes"},
      {base + "--offload-activations 2 --host-memory-gib 512",
       "--offload-activations: got 2, want 0 to 1"},
      {base + "--offload-activations nan --host-memory-gib 512", "--offload-activations"},
      {base + "--optimizer adagrad", "adagrad"},
      {base + "--recompute-layers 1-", "--recompute-layers"},
      {base + "--recompute-layers 0", "is its embedding or head"},
      {base + "--recompute-layers 99999999999", "--recompute-layers"},
      {base + "--recompute-layers 1-9,40", "recompute_layers"},
      {base + "--recompute-layers 2,1-3", "each layer once"},
      {base + "--recompute-num-layers -1", "recompute_num_layers"},
      {base + "--recompute-num-layers 1,2", "recompute_num_layers"},
      {base + "--recompute-num-layers 1 --recompute-layers 1", "recompute_layers"},
      {base + "--recompute-method uniform", "recompute_num_layers"},
      {base + "--recompute-method uniform --recompute-num-layers 2 --zero 3", "zero 3"},
      {base + "--zero 5", "zero"},
      {base + "--precision int3", "int3"},
      {base + "--attention magic", "magic"},
      {base + "--network psychic", "psychic"},
      {base + "--gradient-sync telepathy", "telepathy"},
      {base + "--gradient-sync ring --zero 1", "gradient_sync"},
      {base + "--gradient-sync gossip", "sync_peers"},
      {base + "--gradient-sync parameter-server --sync-servers 9", "serve"},
      {base + "--gradient-sync rolling-server --dead-server 99", "dead_server"},
      {base + "--gradient-sync rolling-server --sync-timeout-ms nan", "--sync-timeout-ms"},
      {base + "--sync-peers 1", "sync_peers"},
      {base + "--frozen backbone", "--frozen: got \"backbone\""},
      {base + "--frozen 0-99", "--frozen: got layers \"0-99\""},
      {base + "--frozen embedding,blocks,head", "--frozen: got all"},
      {base + "--frozen 1 --schedule pipedream --pp 2", "frozen layers"},
      {base + "--frozen embedding,head --pp 2 --embedding-placement vocab-1",
       "vocabulary: vocab-1 with embedding frozen, want it trained"},
      {base + "--frozen 1 --gradient-sync rolling-server --dead-server 0", "dead_server"},
      {base + "--layer-state $T/missing.yaml", "missing.yaml"},
      {base + "--layer-state $T/share.yaml", "share.yaml: states[1].token_share: got 1.5"},
      {base + "--layer-state $T/depth.yaml", "depth.yaml: depth: got 26, want 34"},
      {base + "--layer-state $T/part.yaml", "part.yaml: states[0].layers: got \"neck\""},
      {base + "--layer-state $T/frozen.yaml", "frozen.yaml: got all 34 layers"},
      {base + "--layer-state $T/half.yaml --frozen 31-33",
       "half.yaml, --frozen: got all 34 layers"},
      {base + "--layer-state $T/cached.yaml", "cached.yaml: got a cached output of layer 3"},
      {base + "--rank-order tp-pp", "rank order"},
      {base + "--rank-order tp-tp-cp-ep-dp", "rank order"},
      {base + "--pp 2 --stage-layers 16,17", "stage layers"},
      {base + "--pp 2 --stage-layers 32", "stage layers"},
      {base + "--pp 2 --stage-layers 40,-8", "layers"},
      {base + "--trace step.txt", "--trace"},
      {base + "--trace $T/nowhere/step.json", "nowhere"},
      {base + "--timeline step.csv", "--timeline"},
      {no_model + "--model lama3-8b", "llama"},
      {no_model + "--model $T/missing.json", "missing.json"},
      {no_model + "--model $T/truncated.json", "truncated.json"},
      {no_model + "--model $T/binary.json", "binary.json"},
      {no_model + "--model $T/empty.json", "empty.json"},
      {no_model + "--model $T/negative.json", "num_hidden_layers"},
      {no_model + "--model $T/nokeys.json", "hidden_size"},
      {no_model + "--model $T/family.json", "mamba"},
      {no_model + "--model megatron:24x2304", "megatron"},
      {no_model + "--model megatron:24x2304x0", "megatron"},
      {no_model + "--model gpt2 --tp 8 --seq 512", "--seq"},
      {"simulate --model gpt2 --cluster h100-sxm:1x8 --global-batch 8 --tp 8", "heads"},
      {no_cluster + "--cluster h100", "h100"},
      {no_cluster + "--cluster h1000-sxm:1x8", "h100-sxm"},
      {no_cluster + "--cluster h100-sxm:0x8", "h100-sxm:0x8"},
      {no_cluster + "--cluster h100-sxm:-1x8", "-1"},
      {no_cluster + "--cluster h100-sxm:1x9", "9"},
      {no_cluster + "--cluster h100-sxm:1e9x8", "1e9"},
      {no_cluster + "--cluster h100-sxm:999999999x8", "999999999"},
      {no_cluster + "--cluster h100-sxm:1x8+", "GPU:NxG"},
      {no_cluster + "--cluster $T/missing.yaml", "missing.yaml"},
      {no_cluster + "--cluster $T/truncated.yaml", "truncated.yaml"},
      {no_cluster + "--cluster $T/binary.yaml", "binary.yaml"},
      {no_cluster + "--cluster $T/unknown_key.yaml", "nod_groups"},
      {"simulate --model llama3-8b --cluster v100-sxm2-32gb:1x8 --global-batch 8 --seq 512",
       "bf16"},
      {"simulate --model gpt2-tiny --cluster h100-sxm:1x2 --plan $T/missing.yaml", "missing.yaml"},
      {base + "--plan $T/device_twice.yaml", "--global-batch"},
      {"simulate --model gpt2-tiny --cluster h100-sxm:1x2 --plan $T/device_twice.yaml", "twice"},
      {"simulate --model gpt2-tiny --cluster h100-sxm:1x2 --plan $T/no_such_device.yaml",
       "device 7"},
      {"simulate --model gpt2-tiny --cluster h100-sxm:1x2 --plan $T/lost_layer.yaml", "layer"},
      {"simulate --model gpt2-tiny --cluster h100-sxm:1x2 --plan $T/truncated.yaml",
       "truncated.yaml"},
      {"explain --model llama3-8b", "--cluster"},
      {"explain --model llama3-8b --cluster h100-sxm:1x8 --global-batch 8 --sek 512", "--seq"},
      {"explain --model llama3-8b --cluster h100-sxm:1x8 --tp 3", "does not divide"},
      {"explain a.yaml b.yaml c.yaml --model llama3-8b --cluster h100-sxm:1x8", "3 plans"},
      {"explain --model gpt2-tiny --cluster h100-sxm:1x2 $T/missing.yaml", "missing.yaml"},
      {"explain $T/missing.yaml --model gpt2-tiny --cluster h100-sxm:1x2", "missing.yaml"},
      {"explain $T/device_twice.yaml --model gpt2-tiny --cluster h100-sxm:1x2", "twice"},
      {"explain $T/device_twice.yaml --model gpt2-tiny --cluster h100-sxm:1x2 --tp 2", "--tp"},
      {"check $T/missing.yaml", "missing.yaml"},
      {"check $T/binary.yaml", "binary.yaml"},
      {"check", "FILE"},
      {"catalogue", "LIST"},
      {"catalogue boats", "boats"},
      {"validate", "--against"},
      {"validate --against $T/missing.csv", "missing.csv"},
      {"validate --against $T/empty.json", "empty.json"},
      {"validate --all $T/nowhere", "nowhere"},
      {"validate --all $T --max-error banana", "banana"},
  };
}

class BadInputTest : public bad_input::FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    Write("empty.json", "");
    Write("truncated.json", "{\"model_type\": \"llama\", \"hidden_size\": 40");
    Write("binary.json", std::string("\x00\xff\x7f\x01garbage\x00", 12));
    Write("negative.json",
          R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
              "num_hidden_layers": -2, "num_attention_heads": 4, "vocab_size": 512,
              "max_position_embeddings": 128})");
    Write("nokeys.json", R"({"model_type": "llama"})");
    Write("family.json", R"({"model_type": "mamba", "hidden_size": 64})");
    Write("share.yaml", "states:\n  - {trained: true}\n  - {token_share: 1.5}\n");
    Write("depth.yaml", "depth: 26\n");
    Write("part.yaml", "states: [{layers: neck, trained: false}]\n");
    Write("frozen.yaml", "states: [{trained: false}]\n");
    Write("half.yaml", "trained_last: 3\n");
    Write("cached.yaml", "states: [{layers: 3-4, trained: false, cached: true}]\n");
    Write("truncated.yaml", "node_groups:\n  - {node_type: dgx-h100, cou");
    Write("binary.yaml", std::string("\x00\xff\x7f\x01garbage\x00", 12));
    Write("unknown_key.yaml", "name: x\nnod_groups: []\n");
    const std::string numbers =
        "micro_batch: 1\nglobal_batch: 4\nsequence: 64\norder: ONE_FORWARD_ONE_BACKWARD\n"
        "precision: BF16\ngradient_bytes: 4\nstages:\n";
    const auto stage = [](int first, int count, int device) {
      return "  - {chunks: [{first: " + std::to_string(first) +
             ", count: " + std::to_string(count) +
             "}], tensor_parallel: 1, context_parallel: 1, recompute: NONE, replicas: "
             "[{devices: [" +
             std::to_string(device) + "]}]}\n";
    };
    Write("device_twice.yaml", numbers + stage(0, 2, 0) + stage(2, 2, 0));
    Write("no_such_device.yaml", numbers + stage(0, 2, 0) + stage(2, 2, 7));
    Write("lost_layer.yaml", numbers + stage(0, 2, 0) + stage(3, 1, 1));
  }
};

TEST_F(BadInputTest, EveryMistakeIsOneSentenceAndExitCodeTwo) {
  ExpectRefused(Cases());
  EXPECT_GE(Cases().size(), 40u);
}

TEST_F(BadInputTest, AnUnknownVerbIsOneLineWhateverItHolds) {
  for (const std::string verb : {"line\nbreak", "tab\t", "\r\n", "sim\x1b[1mulate", "\n\n\n"}) {
    std::istringstream in;
    std::ostringstream out, err;
    EXPECT_EQ(RunCommandLine({verb}, in, out, err), kExitBadInput);
    EXPECT_EQ(out.str(), "");
    const std::string text = err.str();
    const auto controls = std::count_if(text.begin(), text.end(), [](char c) { return c < ' '; });
    EXPECT_EQ(controls, 1) << text;  // only the end of the line
  }
}

TEST_F(BadInputTest, NotFittingIntoMemoryIsAResult) {
  const Result result = RunLine(
      "simulate --model llama3-70b --cluster h100-sxm:1x8 --global-batch 8 --seq 512 --json");
  EXPECT_EQ(result.code, kExitOk) << result.err;
  EXPECT_NE(result.out.find("\"fits\": false"), std::string::npos);
}

}  // namespace
}  // namespace stagecraft
