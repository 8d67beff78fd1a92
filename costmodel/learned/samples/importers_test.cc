#include "costmodel/learned/samples/importers.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/learned/samples/gzip.h"
#include "costmodel/learned/samples/sample_file.h"
#include "costmodel/proto_file.h"
#include "costmodel/shared_csv.h"

namespace stagecraft {
namespace {

constexpr char kGemm[] = "gpu_id,system,m,n,k,latency_ms\n";
constexpr char kAttention[] =
    "gpu_id,framework,kernel,batch,seq,heads,kv_heads,head_dim,q_dtype,kv_dtype,causal,latency_"
    "ms\n";
constexpr char kFp32[] = "split,op,gpu_id,device,B,M,N,K,H,latency_ms,tile,gx,gy,gz,bx,by,bz\n";
constexpr char kLayers[] = "gpu_id,gpu,model,op,tp,m,n,k,median_ms,std_ms,min_ms\n";
constexpr char kSquare[] = "gpu_id,dtype,m,n,k,flops,us,valid,invalid_reason\n";

// Returns the only sample of a table of one row.
Sample One(const std::string& header, const std::string& row) {
  const SampleFile file = ParseSamples(header + row + "\n", "t.csv");
  EXPECT_EQ(file.samples.size(), 1u);
  return file.samples.empty() ? Sample() : file.samples[0];
}

std::string ErrorOf(const std::string& text) {
  try {
    ParseSamples(text, "t.csv");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ImportersTest, ProductOfAiconfiguratorIsInBf16) {
  Sample want;
  want.op = Op::Gemm(DType::kBf16, 81, 3584, 8192);
  want.gpu = "a100-sxm4-80gb";
  want.time = Duration::Nanoseconds(56320);
  want.source = "aiconfigurator";
  EXPECT_EQ(One(kGemm, "a100-sxm4-80gb,a100_sxm,81,3584,8192,0.05632"), want);
}

TEST(ImportersTest, AttentionOfServingFrameworksCountsHeadsOverTheBatch) {
  Sample want;
  want.op = Op::Attention(DType::kBf16, Direction::kForward, 64, 512, 512, 128, true);
  want.op.sequences = 2;
  want.op.kv_batch = 16;
  want.op.use = AttentionUse::kServing;
  want.op.attention_kernel = AttentionKernel::kFlash;
  want.gpu = "h100-sxm5-80gb";
  want.time = Duration::Nanoseconds(13989);  // the tenths of a nanosecond are rounded
  want.name = "flash_attention";
  want.software = "sglang-0.5.10";
  want.source = "aiconfigurator";
  EXPECT_EQ(
      One(kAttention,
          "h100-sxm5-80gb,sglang-0.5.10,flash_attention,2,512,32,8,128,bf16,bf16,1,0.0139888"),
      want);
}

TEST(ImportersTest, KeysOfEightBitsMakeTheArithmeticThatOfEightBits) {
  const Sample mixed = One(kAttention, "b200-sxm-180gb,s,trtllm_mha,1,8,4,4,64,bf16,fp8,0,0.01");
  EXPECT_EQ(mixed.op.dtype, DType::kFp8);
  EXPECT_EQ(mixed.name, "trtllm_mha fp8 keys");
  EXPECT_EQ(mixed.op.attention_kernel, AttentionKernel::kFused);
  EXPECT_TRUE(mixed.op.converts_keys);
  EXPECT_FALSE(mixed.op.causal);
  const Sample both = One(kAttention, "b200-sxm-180gb,s,trtllm_mha,1,8,4,4,64,fp8,fp8,1,0.01");
  EXPECT_EQ(both.op.dtype, DType::kFp8);
  EXPECT_EQ(both.name, "trtllm_mha");
}

TEST(ImportersTest, NeuSightSumsProductsOverN) {
  const auto op = [](const std::string& row) { return One(kFp32, row).op; };
  // The layer takes 58 tokens from 13 features to 141.
  EXPECT_EQ(op("train,linear,t4-16gb,Tesla T4,1,58,13,141,0,0.054507,32x128,5,1,1,256,1,1"),
            Op::Gemm(DType::kFp32, 58, 141, 13));
  EXPECT_EQ(op("train,bmm,t4-16gb,Tesla T4,6,27,21,390,0,0.035787,128x128,4,1,6,256,1,1"),
            Op::Gemm(DType::kFp32, 27, 390, 21, 6));
}

TEST(ImportersTest, NeuSightStreamsMoveEachTensorOnce) {
  const auto sample = [](const std::string& name) {
    return One(kFp32, "test," + name + ",p4-8gb,Tesla P4,10,0,0,0,100,0.02,,1,1,1,1,1,1");
  };
  // There are 10 rows of 100 numbers of 4 bytes each.
  EXPECT_EQ(sample("ln").op, Op::Rowwise(OpKind::kNorm, DType::kFp32, 10, 100, Bytes(8000)));
  EXPECT_EQ(sample("softmax").op,
            Op::Rowwise(OpKind::kSoftmax, DType::kFp32, 10, 100, Bytes(8000)));
  Op moved = Op::Elementwise(Bytes(12000));
  moved.dtype = DType::kFp32;
  for (const char* name : {"add", "mul", "div", "pow"}) EXPECT_EQ(sample(name).op, moved) << name;
  moved.bytes = Bytes(8000);
  for (const char* name : {"addu", "mulu", "divu", "powu", "relu", "gelu", "tanh"}) {
    EXPECT_EQ(sample(name).op, moved) << name;
  }
  EXPECT_EQ(sample("gelu").name, "gelu");
  EXPECT_EQ(sample("gelu").split, "test");
  EXPECT_EQ(sample("gelu").source, "NeuSight");
  EXPECT_EQ(sample("gelu").gpu, "p4-8gb");
}

TEST(ImportersTest, SpreadOfVidurIsRelativeToTheMedian) {
  const Sample sample = One(kLayers,
                            "a100-sxm4-80gb,a100,CodeLlama-34b-Instruct-hf,attn_post_proj,1,4,8192,"
                            "4096,0.08,0.002,0.07");
  EXPECT_EQ(sample.op, Op::Gemm(DType::kFp16, 4, 8192, 4096));
  EXPECT_EQ(sample.time, 80_us);
  EXPECT_DOUBLE_EQ(sample.spread, 0.025);
  EXPECT_EQ(sample.name, "attn_post_proj");
  EXPECT_EQ(sample.source, "Vidur");
}

TEST(ImportersTest, RowsThatAlpaMarksInvalidArePassedOverAndCounted) {
  const SampleFile file = ParseSamples(std::string(kSquare) +
                                           "v100-sxm2-16gb,fp16,0,0,0,0,16.62,0,zero_flops\n"
                                           "v100-sxm2-16gb,fp32,128,128,128,4194304,29.675,1,\n",
                                       "t.csv");
  ASSERT_EQ(file.samples.size(), 1u);
  EXPECT_EQ(file.skipped, 1);
  EXPECT_EQ(file.samples[0].op, Op::Gemm(DType::kFp32, 128, 128, 128));
  EXPECT_EQ(file.samples[0].time, Duration::Nanoseconds(29675));
  EXPECT_EQ(file.samples[0].source, "Alpa");
}

TEST(ImportersTest, ColumnsMayComeInAnyOrderAndOthersArePassedOver) {
  const Sample sample =
      One("note,k,n,m,latency_ms,system,gpu_id\n", "\"a, b\",3,2,1,0.5,x,t4-16gb");
  EXPECT_EQ(sample.op, Op::Gemm(DType::kBf16, 1, 2, 3));
}

TEST(ImportersTest, BadRowsAreNamedByLineColumnAndValue) {
  const std::string gemm(kGemm), attention(kAttention), fp32(kFp32), square(kSquare);
  EXPECT_EQ(ErrorOf(gemm + "g,s,1,2,3,0.5\ng,s,1,2,3,-1\n"),
            "t.csv:3: latency_ms: got \"-1\", want a number from 1e-06 to 1e+09");
  EXPECT_EQ(ErrorOf(gemm + "g,s,1,2,3,nan\n"),
            "t.csv:2: latency_ms: got \"nan\", want a number from 1e-06 to 1e+09");
  EXPECT_EQ(ErrorOf(gemm + "g,s,1,2,3,\n"),
            "t.csv:2: latency_ms: got \"\", want a number from 1e-06 to 1e+09");
  EXPECT_EQ(ErrorOf(gemm + "g,s,12x,2,3,0.5\n"),
            "t.csv:2: m: got \"12x\", want a whole number from 1 to 1099511627776");
  EXPECT_EQ(ErrorOf(gemm + "g,s,1,2,0,0.5\n"),
            "t.csv:2: k: got \"0\", want a whole number from 1 to 1099511627776");
  EXPECT_EQ(ErrorOf(gemm + "g,s,1000000000,1000000000,1,0.5\n"),
            "t.csv:2: got 1.000000002e+18 elements in the operands of gemm "
            "1000000000x1000000000x1 bf16, want at most 1e+17");
  EXPECT_EQ(ErrorOf(gemm + ",s,1,2,3,0.5\n"), "t.csv:2: gpu_id: got \"\", want a name");
  EXPECT_EQ(ErrorOf(gemm + "g,s,1,2,3\n"), "t.csv:2: got 5 fields, want 6 as in the header");
  EXPECT_EQ(ErrorOf(attention + "g,f,k,1,8,4,3,64,bf16,bf16,1,0.1\n"),
            "t.csv:2: kv_heads: got \"3\", want a divisor of 4");
  EXPECT_EQ(ErrorOf(attention + "g,f,k,1,8,4,4,64,int8,bf16,1,0.1\n"),
            "t.csv:2: q_dtype: got \"int8\", want bf16, fp16 or fp8");
  EXPECT_EQ(ErrorOf(attention + "g,f,k,1,8,4,4,64,bf16,bf16,yes,0.1\n"),
            "t.csv:2: causal: got \"yes\", want 0 or 1");
  EXPECT_EQ(ErrorOf(fp32 + "test,conv,g,d,1,1,1,1,1,0.1,,1,1,1,1,1,1\n"),
            "t.csv:2: op: got \"conv\", want linear, bmm, ln, softmax, add, mul, div, pow, addu, "
            "mulu, divu, powu, relu, gelu or tanh");
  EXPECT_EQ(ErrorOf(square + "g,bf16,1,1,1,2,3,1,\n"),
            "t.csv:2: dtype: got \"bf16\", want fp16 or fp32");
}

TEST(ImportersTest, MissingColumnIsNamed) {
  EXPECT_EQ(ErrorOf("gpu_id,system,m,n,latency_ms\ng,s,1,2,0.5\n"),
            "t.csv:1: got no column \"k\", want one, as in aiconfigurator GEMM");
}

// Counts the lines of a table by the key that `of` returns for their fields; lines with an empty
// key are not counted.
std::map<std::string, size_t> CountLines(const std::filesystem::path& path,
                                         const std::function<std::string(const CsvRow&)>& of) {
  std::string text = ReadFile(path.string());
  if (IsGzip(text)) text = Gunzip(text, path.string());
  std::map<std::string, size_t> counts;
  ForEachCsvRow(text, [&](const CsvRow& row) {
    if (const std::string key = of(row); !key.empty()) ++counts[key];
  });
  return counts;
}

// The samples of each table are as many as the rows that its file has.
TEST(ImportersTest, SharedTablesAreReadWhole) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  const std::string kernels = SharedDataPath("kernels");
  size_t files = 0, valid = 0, skipped = 0;
  std::map<std::string, size_t> fp8_keys;  // with queries of more bits, by GPU
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kernels)) {
    const std::filesystem::path& path = entry.path();
    if (path.filename().string().find(".csv") == std::string::npos) continue;
    ++files;
    const auto is_valid = [](const CsvRow& fields) {
      const auto found = fields.find("valid");
      return found == fields.end() || found->second == "1" ? "valid" : "skipped";
    };
    std::map<std::string, size_t> counts = CountLines(path, is_valid);
    const SampleFile read = ReadSampleFile(path.string());
    EXPECT_GT(counts["valid"], 0u) << path;
    EXPECT_EQ(read.samples.size(), counts["valid"]) << path;
    EXPECT_EQ(static_cast<size_t>(read.skipped), counts["skipped"]) << path;
    valid += counts["valid"];
    skipped += counts["skipped"];
    const auto mixed = CountLines(path, [](const CsvRow& fields) -> std::string {
      const auto keys = fields.find("kv_dtype");
      if (keys == fields.end() || keys->second != "fp8") return "";
      return fields.at("q_dtype") == "fp8" ? "" : fields.at("gpu_id");
    });
    for (const auto& [gpu, count] : mixed) fp8_keys[gpu] += count;
  }
  const SampleFile all = ReadSampleFile(kernels);
  EXPECT_EQ(all.format, std::to_string(files) + " files");
  EXPECT_EQ(all.samples.size(), valid);
  EXPECT_EQ(static_cast<size_t>(all.skipped), skipped);
  std::map<std::string, size_t> named;
  for (const Sample& sample : all.samples) {
    if (sample.name.ends_with(" fp8 keys")) ++named[sample.gpu];
  }
  EXPECT_EQ(named, fp8_keys);
}

}  // namespace
}  // namespace stagecraft
