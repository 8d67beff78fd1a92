#include "sim/workload/workload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

constexpr int64_t kSequence = 2048;

// A 16-bit GPT block of Megatron's 22B shape.
DecoderConfig Gpt() {
  return SizedDecoder(
      "gpt",
      {.layers = 48, .hidden = 6144, .heads = 64, .vocab = 51200, .max_sequence = kSequence});
}

const LayerKind& Block(const Workload& workload) { return workload.layer(1); }

// Returns the bytes that one token keeps in one 16-bit layer on one rank, with sequences of `keys`.
double SavedBytesPerToken(const LayerKind& layer, double tensor_parallel, bool sequence_parallel,
                          double keys) {
  double total = 0;
  for (const Operator& op : layer.operators) {
    for (const SavedTensor& tensor : op.saved) {
      const double width = tensor.bytes_per_element == 0 ? 2 : tensor.bytes_per_element;
      double bytes = width * static_cast<double>(tensor.features);
      if (tensor.per_key) bytes *= keys;
      const bool divided = tensor.split == Split::kColumn || sequence_parallel;
      total += divided ? bytes / tensor_parallel : bytes;
    }
  }
  return total;
}

// 2 layers of hidden 4: 8 embeddings, 2 positions, 12·16 + 13·4 per block.
TEST(WorkloadTest, ParametersOfAGptThatFitsInTheHead) {
  const DecoderConfig config =
      SizedDecoder("gpt", {.layers = 2, .hidden = 4, .heads = 2, .vocab = 8, .max_sequence = 2});
  const Workload workload = BuildDecoder(config, AttentionBackend::kFlash, "tiny");
  EXPECT_EQ(workload.layer_count(), 4);
  EXPECT_EQ(workload.op_sequence_count(), 2);
  EXPECT_EQ(workload.layer(0).Parameters(), 8 * 4 + 2 * 4);
  EXPECT_EQ(workload.layer(1).Parameters(), 12 * 16 + 13 * 4);
  EXPECT_EQ(workload.layer(3).Parameters(), 2 * 4);
  EXPECT_EQ(workload.layer(3).tied_parameters, 8 * 4);
  EXPECT_EQ(workload.Parameters(), 40 + 2 * 244 + 8);
}

TEST(WorkloadTest, ParametersEqualThePublishedCounts) {
  const std::map<std::string, int64_t> published = {
      {"llama-2-7b", 6'738'415'616},   {"llama-2-13b", 13'015'864'320},
      {"llama-2-70b", 68'976'648'192}, {"llama-3-8b", 8'030'261'248},
      {"llama-3-70b", 70'553'706'496}, {"llama-3.1-405b", 405'853'388'800},
      {"gpt2", 124'439'808},           {"gpt2-medium", 354'823'168},
      {"gpt2-large", 774'030'080},     {"gpt2-xl", 1'557'611'200},
  };
  for (const auto& [name, parameters] : published) {
    EXPECT_EQ(LoadWorkload(name, AttentionBackend::kFlash).Parameters(), parameters) << name;
    EXPECT_EQ(LoadWorkload(name, AttentionBackend::kUnfused).Parameters(), parameters) << name;
  }
}

// Narayanan et al. 2021, equation 2, prints billions with one decimal.
TEST(WorkloadTest, MegatronPresetsHaveTheParametersInTheirNames) {
  const std::vector<std::string> sizes = {"1.7",  "3.6",   "7.5",   "18.4", "39.1",
                                          "76.1", "145.6", "310.1", "529.6"};
  for (const std::string& size : sizes) {
    const Workload workload = LoadWorkload("megatron-" + size + "b", AttentionBackend::kUnfused);
    EXPECT_NEAR(static_cast<double>(workload.Parameters()) * 1e-9, std::stod(size), 0.051);
  }
  const Workload largest = LoadWorkload("megatron-1t", AttentionBackend::kUnfused);
  EXPECT_NEAR(static_cast<double>(largest.Parameters()) * 1e-9, 1008.0, 0.51);
}

// 6·N + 6·s·a·d·L, N all matrices but the embedding: the convention that the
// published Llama 3 rows follow, causal attention counted as half the square.
TEST(WorkloadTest, TrainingFlopsFollowThePublishedConvention) {
  const double h = 8192, f = 28672, layers = 80, a = 64, k = 8, d = 128, v = 128256, s = 8192;
  const double matrices = layers * (h * a * d + 2 * h * k * d + a * d * h + 3 * h * f) + v * h;
  const double expected = 6 * matrices + 6 * s * a * d * layers;
  const Workload workload = LoadWorkload("llama-3-70b", AttentionBackend::kFlash);
  EXPECT_DOUBLE_EQ(workload.TrainingFlopsPerToken(8192).count(), expected);
}

TEST(WorkloadTest, HeadSizeNeedNotDivideHidden) {
  const DecoderConfig config = SizedDecoder("llama", {.layers = 3,
                                                      .hidden = 100,
                                                      .heads = 6,
                                                      .kv_heads = 2,
                                                      .head_size = 32,
                                                      .ffn = 300,
                                                      .vocab = 1000,
                                                      .max_sequence = 64});
  const Workload workload = BuildDecoder(config, AttentionBackend::kFlash, "odd");
  const double matrices = 3 * (100 * 192 + 2 * 100 * 64 + 192 * 100 + 3 * 100 * 300) + 1000 * 100;
  EXPECT_DOUBLE_EQ(workload.TrainingFlopsPerToken(64).count(), 6 * matrices + 6.0 * 64 * 192 * 3);
}

// Korthikanti et al. 2022, equations 1, 2 and 4, per token.
TEST(WorkloadTest, UnfusedGptKeepsWhatTheActivationLawSays) {
  const Workload workload = BuildDecoder(Gpt(), AttentionBackend::kUnfused, "gpt");
  const double h = 6144, a = 64, s = kSequence;
  EXPECT_DOUBLE_EQ(SavedBytesPerToken(Block(workload), 1, false, s), 34 * h + 5 * a * s);
  for (const double t : {2.0, 8.0}) {
    EXPECT_DOUBLE_EQ(SavedBytesPerToken(Block(workload), t, false, s),
                     h * (10 + 24 / t + 5 * a * s / (h * t)));
    EXPECT_DOUBLE_EQ(SavedBytesPerToken(Block(workload), t, true, s), h / t * (34 + 5 * a * s / h));
  }
}

TEST(WorkloadTest, FlashAttentionKeepsOneNumberPerHeadInPlaceOfScores) {
  const Workload workload = BuildDecoder(Gpt(), AttentionBackend::kFlash, "gpt");
  EXPECT_DOUBLE_EQ(SavedBytesPerToken(Block(workload), 1, false, kSequence),
                   34.0 * 6144 + 4.0 * 64);
}

// Norm inputs 4h, inputs of qkv and gate+up 4h, q and context 4h, k and v
// 4·kv·d, gate+up 4f, down input 2f.
TEST(WorkloadTest, LlamaKeepsNoMasks) {
  const Workload workload = LoadWorkload("llama-3-8b", AttentionBackend::kFlash);
  const double h = 4096, f = 14336, kv = 8 * 128;
  EXPECT_DOUBLE_EQ(SavedBytesPerToken(Block(workload), 1, false, 8192),
                   12 * h + 4 * kv + 6 * f + 4 * 32);
}

TEST(WorkloadTest, HeadKeepsOneSoftmaxInSinglePrecision) {
  const Workload workload = LoadWorkload("llama-3-8b", AttentionBackend::kFlash);
  const LayerKind& head = workload.layer(workload.layer_count() - 1);
  EXPECT_DOUBLE_EQ(SavedBytesPerToken(head, 1, false, 8192), 4.0 * 4096 + 4.0 * 128256);
}

TEST(WorkloadTest, OperatorsComeInExecutionOrderAndResidualsBypass) {
  const Workload workload = LoadWorkload("llama-2-7b", AttentionBackend::kFlash);
  const OperatorGraph& graph = Block(workload).operators;
  std::vector<std::string> names;
  for (size_t vertex = 0; vertex < graph.size(); ++vertex) {
    names.push_back(graph[vertex].name);
    for (const size_t producer : graph.producers(vertex)) EXPECT_LT(producer, vertex);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"attention_norm", "qkv", "rotary", "attention",
                                             "projection", "attention_residual", "mlp_norm",
                                             "mlp_up", "activation", "mlp_down", "mlp_residual"}));
  EXPECT_EQ(graph.producers(10), (std::vector<size_t>{5, 9}));  // residual stream around the MLP
  EXPECT_EQ(graph.producers(3), (std::vector<size_t>{1, 2}));   // values around the rotation
  EXPECT_TRUE(graph[0].reads_layer_input);
  EXPECT_TRUE(graph[5].reads_layer_input);
  EXPECT_FALSE(graph[10].reads_layer_input);
}

TEST(WorkloadTest, ParallelResidualKeepsTheBlockInputOnce) {
  DecoderConfig config = Gpt();
  const Workload serial = BuildDecoder(config, AttentionBackend::kFlash, "serial");
  config.parallel_residual = true;
  const Workload parallel = BuildDecoder(config, AttentionBackend::kFlash, "parallel");
  EXPECT_EQ(serial.Parameters(), parallel.Parameters());
  EXPECT_DOUBLE_EQ(SavedBytesPerToken(Block(serial), 1, false, 1) -
                       SavedBytesPerToken(Block(parallel), 1, false, 1),
                   2.0 * 6144);
}

TEST(WorkloadTest, NemotronHasTwoMatricesPerMlpAndNoLinearBias) {
  const DecoderConfig config = SizedDecoder("nemotron", {.layers = 1,
                                                         .hidden = 64,
                                                         .heads = 8,
                                                         .kv_heads = 2,
                                                         .ffn = 256,
                                                         .vocab = 128,
                                                         .max_sequence = 16});
  const Workload workload = BuildDecoder(config, AttentionBackend::kFlash, "nemotron");
  EXPECT_EQ(Block(workload).Parameters(), 64 * 96 + 64 * 64 + 2 * 64 * 256 + 2 * 2 * 64);
  EXPECT_EQ(workload.Parameters(), Block(workload).Parameters() + 2 * 128 * 64 + 2 * 64);
}

TEST(WorkloadTest, VocabularyIsPaddedToRowsOfEveryRank) {
  EXPECT_EQ(PaddedVocabulary(50257, 1), 50304);
  EXPECT_EQ(PaddedVocabulary(50257, 8), 51200);
  EXPECT_EQ(PaddedVocabulary(51200, 8), 51200);
  EXPECT_EQ(PaddedVocabulary(50257, 3, 64), 50304);
}

TEST(WorkloadTest, DecoderErrorsNameFieldAndValue) {
  DecoderConfig config = Gpt();
  config.heads = 7;
  try {
    BuildDecoder(config, AttentionBackend::kFlash, "mine");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "mine: hidden: got 6144, want a multiple of the 7 heads, as no head size is "
              "given");
  }
  EXPECT_THROW(DecoderOfFamily("mamba"), InputError);
}

TEST(WorkloadCatalogueTest, EveryPresetBuildsUnderItsNameAndAliases) {
  const std::vector<std::string> names = WorkloadNames();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const std::string& name : names) {
    EXPECT_EQ(LoadWorkload(name, AttentionBackend::kFlash).name, name);
  }
  EXPECT_EQ(LoadWorkload("llama3-70b", AttentionBackend::kFlash).name, "llama-3-70b");
  EXPECT_EQ(LoadWorkload("LLAMA-3-405B", AttentionBackend::kFlash).name, "llama-3.1-405b");
  EXPECT_EQ(LoadDecoderConfig("gpt2-tiny").layers, 2);
}

TEST(WorkloadCatalogueTest, ShapeEqualsThePresetOfThatShape) {
  EXPECT_EQ(LoadDecoderConfig("megatron:24x2304x24"), LoadDecoderConfig("megatron-1.7b"));
  for (const char* bad :
       {"megatron:", "megatron:24x2304", "megatron:24x2304x24x1", "megatron:24x2304x-24",
        "megatron:0x2304x24", "megatron:24 x2304x24", "megatron:24x2304x24 ", "megatron:24x2304x7",
        "megatron:99999999999999999999x8x1", "megatron:100000x900000000x1"}) {
    EXPECT_THROW(LoadDecoderConfig(bad), InputError) << bad;
  }
}

TEST(WorkloadCatalogueTest, ReadsAFileAndADirectoryThatHoldsOne) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "gpt2-tiny";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "config.json")
      << R"({"model_type": "gpt2", "vocab_size": 8, "n_embd": 4, "n_layer": 3, "n_head": 2,
             "n_positions": 2})";
  EXPECT_EQ(LoadDecoderConfig(folder.string()).layers, 3);
  EXPECT_EQ(LoadDecoderConfig((folder / "config.json").string()).layers, 3);
  std::ofstream(folder / "config.json") << "{";
  EXPECT_THROW(LoadDecoderConfig(folder.string()), InputError);
  std::filesystem::remove(folder / "config.json");
  EXPECT_THROW(LoadDecoderConfig(folder.string()), InputError);
}

TEST(WorkloadCatalogueTest, UnknownNamesAreRefusedWithTheNearest) {
  try {
    LoadDecoderConfig("llama-3-70");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("llama-3-70b"), std::string::npos);
  }
  for (const char* bad : {"", "nowhere.json", "/", "a/b", "gpt"}) {
    EXPECT_THROW(LoadDecoderConfig(bad), InputError) << bad;
  }
}

}  // namespace
}  // namespace stagecraft
