#include "costmodel/learned/samples/sample_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/learned/samples/gzip.h"
#include "costmodel/learned/samples/sample_csv.h"
#include "costmodel/learned/samples/sample_proto.h"
#include "costmodel/proto_file.h"

namespace stagecraft {
namespace {

constexpr char kShortest[] = "kind,dtype,m,n,k,gpu,time_us\ngemm,bf16,1,2,3,t4-16gb,0.001\n";

std::string ErrorOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}
std::string ErrorOf(const std::string& text, const std::string& path = "t.csv") {
  return ErrorOf([&] { ParseSamples(text, path); });
}

std::string Path(const std::string& name) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "sample_file_test";
  std::filesystem::create_directories(folder);
  return (folder / name).string();
}

// Returns one sample of every kind; every field is set in one of them.
std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  const auto add = [&](const Op& op, int64_t ns) -> Sample& {
    Sample& sample = samples.emplace_back();
    sample.op = op;
    sample.gpu = "h100-sxm5-80gb";
    sample.time = Duration::Nanoseconds(ns);
    return sample;
  };
  Op attention = Op::Attention(DType::kFp8, Direction::kBackward, 64, 512, 1024, 128, true);
  attention.use = AttentionUse::kServing;
  attention.attention_kernel = AttentionKernel::kFlash;  // as the name tells
  attention.sequences = 2;
  attention.kv_batch = 16;
  Sample& full = add(attention, 1);
  full.spread = 0.1;
  full.repeats = 30;
  full.clock_hz = 1980000001;
  full.watts = 412.125;
  full.name = "flash \"3\", causal\r\nsecond line";
  full.split = "train";
  full.software = "cuda 13.0, cublas 13.1";
  full.source = "us";
  add(Op::Gemm(DType::kFp32, 3, 5, 7, 11), 999).spread = 1.0 / 3;
  add(Op::Convolution(DType::kFp16, 1, 3, 5, 7, Bytes(99)), 1000).clock_hz = 1e6;
  add(Op::Elementwise(Bytes(4000), 3), 1001).name = "gelu";
  add(Op::Elementwise(Bytes(4000), 0), 1002);
  add(Op::Rowwise(OpKind::kNorm, DType::kBf16, 10, 20, Bytes(800)), 3599999999999);
  add(Op::Rowwise(OpKind::kSoftmax, DType::kFp32, 10, 20, Bytes(1600), 2), 123456789012345);
  add(Op::Optimizer(Bytes(1), 3), 10);
  return samples;
}

TEST(SampleFileTest, ShortestTableIsKindGpuAndTime) {
  const std::vector<Sample> samples = ParseSamples(kShortest, "t.csv").samples;
  Sample want;
  want.op = Op::Gemm(DType::kBf16, 1, 2, 3);
  want.gpu = "t4-16gb";
  want.time = 1_ns;
  EXPECT_EQ(samples, std::vector<Sample>{want});
}

TEST(SampleFileTest, TableGivesEqualSamplesBack) {
  for (const char* name : {"a.csv", "a.csv.gz"}) {
    const std::string path = Path(name);
    WriteSamplesCsv(path, Samples());
    EXPECT_EQ(IsGzip(ReadFile(path)), path.ends_with(".gz"));
    EXPECT_EQ(ReadSamples(path), Samples());
    EXPECT_EQ(ReadSampleFile(path).format, "samples");
  }
}

// A sample that a table could not give back is not written.
TEST(SampleFileTest, TablesRefuseWhatTheyWouldNotRead) {
  const auto refusal = [](const std::function<void(Sample&)>& change) {
    std::vector<Sample> samples = {Samples()[0]};
    change(samples[0]);
    try {
      SamplesToCsv(samples, "t.csv");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal([](Sample&) {}), "");
  EXPECT_EQ(refusal([](Sample& s) { s.gpu.clear(); }),
            "t.csv: samples[0]: got no gpu, want the id of a device");
  EXPECT_EQ(refusal([](Sample& s) { s.spread = 2000; }),
            "t.csv: samples[0]: got a spread of 2000, want 0 to 1000");
  EXPECT_EQ(refusal([](Sample& s) { s.watts = -1; }),
            "t.csv: samples[0]: got a power of -1 W, want 0 to 1e6");
  EXPECT_EQ(refusal([](Sample& s) { s.op.attention_kernel = AttentionKernel::kTriton; }),
            "t.csv: samples[0]: got an attention kernel that the name does not tell");
  EXPECT_EQ(refusal([](Sample& s) { s.op.kernels = 0; }),
            "t.csv: samples[0]: got 0 kernels, want at least 1");
  const auto as_gemm = [](Sample& s) {
    s.op = Op::Gemm(DType::kBf16, 2, 3, 5);
    s.op.kernels = 0;
  };
  EXPECT_EQ(refusal(as_gemm), "t.csv: samples[0]: got 0 kernels, want at least 1");
  EXPECT_EQ(refusal([](Sample& s) { s.op = Op::Elementwise(Bytes(4), -1); }),
            "t.csv: samples[0]: got -1 kernels, want at least 0");
  EXPECT_EQ(refusal([](Sample& s) { s.op = Op::Elementwise(Bytes(4), 0); }), "");
  EXPECT_NE(refusal([](Sample& s) { s.op = Op::Elementwise(Bytes(0)); }), "");
  EXPECT_NE(refusal([](Sample& s) { s.op.m = int64_t{1} << 41; }), "");
  EXPECT_NE(refusal([](Sample& s) { s.time = Duration::Max(); }), "");
}

TEST(SampleFileTest, ATableWithoutPowerIsRead) {
  const std::vector<Sample> samples =
      ParseSamples(
          "kind,dtype,direction,causal,use,sequences,kv_batch,batch,m,n,k,bytes,kernels,gpu,"
          "time_us,spread,repeats,clock_mhz,name,split,software,source,times_whole_calls\n"
          "gemm,bf16,forward,0,training,1,0,1,1,2,3,0,1,t4-16gb,0.001,0.1,5,1980,linear,,,,0\n",
          "t.csv")
          .samples;
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].clock_hz, 1.98e9);
  EXPECT_EQ(samples[0].watts, 0);
  EXPECT_EQ(samples[0].name, "linear");
}

TEST(SampleFileTest, ATableSaysHowRowsAreAligned) {
  const std::string header = "kind,gpu,time_us,dtype,m,n,k,alignment\n";
  const auto read = [&](const std::string& row) { return ParseSamples(header + row, "t.csv"); };
  const std::vector<Sample> samples =
      read("gemm,t4-16gb,1,fp16,8,9,16,2\ngemm,t4-16gb,1,fp16,8,9,16,\n").samples;
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].op, Op::GemmOfRows(DType::kFp16, 8, 9, 16, 1, {9}));
  EXPECT_EQ(samples[1].op, Op::Gemm(DType::kFp16, 8, 9, 16));
  for (const char* alignment : {"3", "32", "0"}) {
    EXPECT_THROW(read(std::string("gemm,t4-16gb,1,fp16,8,9,16,") + alignment + "\n"), InputError)
        << alignment;
  }
}

TEST(SampleFileTest, ATableSaysHowManyEntriesSparseMatricesHave) {
  const std::string header = "kind,direction,gpu,time_us,dtype,m,n,k,nonzeros\n";
  const auto read = [&](const std::string& row) { return ParseSamples(header + row, "t.csv"); };
  const std::vector<Sample> samples =
      read("sparse,forward,t4-16gb,1,fp16,8,4,16,64\nsparse,backward,t4-16gb,1,fp16,8,4,16,0\n")
          .samples;
  ASSERT_EQ(samples.size(), 2u);
  Op op = Op::Sparse(DType::kFp16, Direction::kForward, 8, 4, 16, 64);
  op.product = SparseProduct::kFromEntries;
  EXPECT_EQ(samples[0].op, op);
  EXPECT_EQ(samples[1].op.direction, Direction::kBackward);
  EXPECT_EQ(samples[1].op.nonzeros, 0);
  for (const char* row : {"sparse,,t4-16gb,1,fp16,8,4,16,65", "gemm,,t4-16gb,1,fp16,8,4,16,1"}) {
    EXPECT_THROW(read(row), InputError) << row;
  }
  const std::string csv = SamplesToCsv(samples, "t.csv");
  EXPECT_EQ(ParseSamples(csv, "t.csv").samples, samples);
  std::vector<Sample> expanded = samples;
  expanded[0].op.product = SparseProduct::kExpanded;
  EXPECT_THROW(SamplesToCsv(expanded, "t.csv"), InputError);
}

TEST(SampleFileTest, ProtosGiveEqualSamplesBack) {
  std::vector<Sample> samples = Samples();
  Fabric fabric;
  fabric.ranks = 2;
  fabric.ranks_per_node = 2;
  fabric.intra = {LinkKind::kNvlink, 1_us, Bandwidth(1e9)};
  samples.push_back(samples[0]);
  samples.back().op = Op::Collective(OpKind::kAllReduce, Bytes(1000), fabric);
  samples.back().clock_hz = 1234567890.5;
  for (const char* name : {"a.textproto", "a.pb"}) {
    WriteSamplesProto(Path(name), samples);
    EXPECT_EQ(ReadSamples(Path(name)), samples) << name;
  }
}

TEST(SampleFileTest, YamlJsonAndGzippedProtosAreRead) {
  const std::string yaml =
      "samples:\n- op: {kind: gemm, dtype: bf16, m: 1, n: 2, k: 3}\n  gpu: t4-16gb\n  time_ns: 1\n";
  const std::string json =
      R"({"samples": [{"op": {"kind": "GEMM", "dtype": "BF16", "m": 1, "n": 2, "k": 3},
                       "gpu": "t4-16gb", "timeNs": 1}]})";
  const auto want = ParseSamples(kShortest, "t.csv").samples;
  EXPECT_EQ(ParseSamples(yaml, "a.yaml").samples, want);
  EXPECT_EQ(ParseSamples(json, "a.json").samples, want);
  EXPECT_EQ(ParseSamples(Gzip(json), "a.json.gz").samples, want);
  EXPECT_EQ(ParseSamples(Gzip(kShortest), "a.csv.gz").samples, want);
  // A gzipped file is recognised by its content, whatever its name is.
  EXPECT_EQ(ParseSamples(Gzip(kShortest), "a.csv").samples, want);
}

TEST(SampleFileTest, FolderIsItsTablesInOrderOfTheirPaths) {
  const std::string folder = Path("folder");
  std::filesystem::create_directories(folder + "/b");
  std::vector<Sample> samples = Samples();
  WriteSamplesCsv(folder + "/c.csv", std::span(samples).subspan(2, 1));
  WriteSamplesCsv(folder + "/b/x.csv.gz", std::span(samples).subspan(1, 1));
  WriteSamplesCsv(folder + "/a.csv", std::span(samples).subspan(0, 1));
  WriteFileAtomically(folder + "/README.md", "not a table");
  samples.resize(3);
  EXPECT_EQ(ReadSamples(folder), samples);
  std::filesystem::create_directories(Path("empty"));
  EXPECT_EQ(ErrorOf([&] { ReadSamples(Path("empty")); }),
            Path("empty") + ": got no .csv or .csv.gz in it, want at least one");
}

TEST(SampleFileTest, QuotesCarriageReturnsMarksAndBlankLinesAreNoTrouble) {
  const std::string text =
      "\xEF\xBB\xBFkind,bytes,gpu,time_us,name\r\n\"elementwise\",8,g,1,\"a \"\"b\"\", c\"\r\n\r\n"
      "elementwise,8,g,1,plain";
  const auto samples = ParseSamples(text, "t.csv").samples;
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].name, "a \"b\", c");
  EXPECT_EQ(samples[1].name, "plain");
}

TEST(SampleFileTest, LinesInsideQuotesCount) {
  EXPECT_EQ(ErrorOf("kind,bytes,gpu,time_us,name\nelementwise,8,g,1,\"two\nlines\"\n"
                    "elementwise,8,g,x,\n"),
            "t.csv:4: time_us: got \"x\", want a number from 0.001 to 1e+12");
}

TEST(SampleFileTest, BadTablesAreRefusedWithASentence) {
  const std::string wanted =
      "want those of one of: times of GEMMs, samples, aiconfigurator GEMM, aiconfigurator "
      "attention, NeuSight "
      "kernels, Vidur GEMM, Alpa GEMM";
  EXPECT_EQ(ErrorOf(""), "t.csv: got an empty file, want a table with a header line");
  EXPECT_EQ(ErrorOf("a,b\n1,2\n"), "t.csv:1: got the columns \"a,b\", " + wanted);
  EXPECT_EQ(ErrorOf("kind,gpu,m,n,k\n"),
            "t.csv:1: got no column \"time_us\", want one, as in samples");
  EXPECT_EQ(ErrorOf("kind,gpu,time_us,gpu\n"),
            "t.csv:1: column \"gpu\": got it twice, want it once");
  EXPECT_EQ(ErrorOf("kind,gpu,time_us,spraed\n"),
            "t.csv:1: got a column \"spraed\", want those of samples; did you mean "
            "\"spread\"?");
  EXPECT_EQ(ErrorOf("kind,gpu,time_us\n\"gemm,g,1\n"),
            "t.csv:2: got an opening quote without a closing one, want both");
  EXPECT_EQ(ErrorOf("kind,gpu,time_us\n\"gemm\"x,g,1\n"),
            "t.csv:2: got text after a closing quote, want a comma");
}

TEST(SampleFileTest, BadValuesAreNamedByLineAndColumn) {
  const auto error = [](const std::string& row) {
    return ErrorOf("kind,dtype,direction,kv_batch,batch,m,n,k,bytes,gpu,time_us,spread\n" + row +
                   "\n");
  };
  EXPECT_EQ(error("gem,bf16,,,,1,2,3,,g,1,"),
            "t.csv:2: kind: got \"gem\", want one of gemm, attention, elementwise, optimizer, "
            "convolution, norm, softmax, sparse");
  EXPECT_EQ(error("gemm,,,,,1,2,3,,g,1,"),
            "t.csv:2: dtype: got \"\", want one of fp32, tf32, fp16, bf16, fp8, nvfp4");
  EXPECT_EQ(error("gemm,bf16,,,,1,2,,,g,1,"),
            "t.csv:2: k: got \"\", want a whole number from 1 to 1099511627776");
  EXPECT_EQ(error("attention,bf16,up,,,1,2,3,,g,1,"),
            "t.csv:2: direction: got \"up\", want forward or backward");
  EXPECT_EQ(error("attention,bf16,,5,4,1,2,3,,g,1,"),
            "t.csv:2: kv_batch: got \"5\", want a whole number from 0 to 4");
  EXPECT_EQ(error("elementwise,,,,,,,,,g,1,"),
            "t.csv:2: bytes: got \"\", want a whole number from 1 to 72057594037927936");
  EXPECT_EQ(error("elementwise,,,,,,,,8,g,0.0001,"),
            "t.csv:2: time_us: got \"0.0001\", want a number from 0.001 to 1e+12");
  EXPECT_EQ(error("elementwise,,,,,,,,8,g,1,-0.5"),
            "t.csv:2: spread: got \"-0.5\", want a number from 0 to 1000");
}

// Reading 6.4 million rows, which fit into 3.6 MB, would take more than 4 GiB.
TEST(SampleFileTest, TooManySamplesAreRefusedBeforeTheyAreRead) {
  const std::string header = "kind,gpu,time_us\n", row = "gemm,t4-16gb,1\n";
  std::string table = header, blank = header, message = "\xF0\x01\x01";
  for (size_t i = 0; i <= kMostSamples; ++i) {
    table += row;
    blank += '\n';
    message += {'\xFA', '\x01', '\0'};
  }
  const std::string wants = ": got more than 2000000 samples in all, want fewer";
  EXPECT_TRUE(ErrorOf(table, "t.csv").starts_with("t.csv" + wants)) << ErrorOf(table);
  EXPECT_TRUE(ErrorOf(Gzip(table), "t.csv.gz").starts_with("t.csv.gz" + wants));
  EXPECT_TRUE(ErrorOf(message, "t.pb").starts_with("t.pb" + wants)) << ErrorOf(message, "t.pb");
  // Blank lines are no rows.
  EXPECT_EQ(ErrorOf(blank + "gemm,bf16\n").find(wants), std::string::npos) << ErrorOf(blank);
}

TEST(SampleFileTest, DamagedGzipIsRefused) {
  const std::string whole = Gzip(kShortest);
  EXPECT_EQ(ErrorOf(whole.substr(0, whole.size() - 9), "t.csv.gz"),
            "t.csv.gz: got gzip data that end after 59 bytes unpacked, want a whole .gz file");
  std::string damaged = whole;
  damaged[10] = static_cast<char>(0xff);
  EXPECT_NE(ErrorOf(damaged, "t.csv.gz").find("got gzip data that are damaged"), std::string::npos);
  EXPECT_EQ(Gunzip(whole + whole, "t"), std::string(kShortest) + kShortest);
}

TEST(SampleFileTest, BadProtosAreNamedByField) {
  const auto error = [](const std::string& fields) {
    return ErrorOf(
        "samples { op { kind: ELEMENTWISE bytes: 8 } gpu: \"g\" time_ns: 5 } samples { " + fields +
            " }",
        "t.textproto");
  };
  const std::string op = "op { kind: ELEMENTWISE bytes: 8 } ";
  EXPECT_EQ(error("gpu: \"g\" time_ns: 5"),
            "t.textproto: samples[1].op: got nothing, want the op that was measured");
  EXPECT_EQ(error("op { kind: NONE } gpu: \"g\" time_ns: 5"),
            "t.textproto: samples[1].op.kind: got none, want an op that can be measured");
  EXPECT_EQ(error(op + "time_ns: 5"),
            "t.textproto: samples[1].gpu: got nothing, want the id of a device");
  EXPECT_EQ(error(op + "gpu: \"g\" time_ns: -5"),
            "t.textproto: samples[1].time_ns: got -5, want 1 to 1000000000000000");
  EXPECT_EQ(error(op + "gpu: \"g\" time_ns: 5 spread: -1"),
            "t.textproto: samples[1].spread: got -1, want a finite number >= 0");
  EXPECT_EQ(error(op + "gpu: \"g\" time_ns: 5 repeats: -1"),
            "t.textproto: samples[1].repeats: got -1, want >= 0");
  EXPECT_EQ(ErrorOf("schema: 2", "t.textproto"), "t.textproto: schema: got 2, want 1");
}

TEST(SampleFileTest, TableHoldsNoCollectives) {
  Sample sample = Samples()[0];
  sample.op = Op::Collective(OpKind::kAllReduce, Bytes(8), Fabric());
  const std::string path = Path("collective.csv");
  EXPECT_EQ(ErrorOf([&] {
              WriteSamplesCsv(path, {&sample, 1});
            }),
            path + ": samples[0]: got all-reduce, want an op without a fabric");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(SampleFileTest, SixColumnsAreEnoughForGemms) {
  const SampleFile file =
      ParseSamples("gpu,m,n,k,dtype,time_us\nmy-gpu,128,256,512,bf16,12.5\n", "t.csv");
  EXPECT_EQ(file.format, "times of GEMMs");
  ASSERT_EQ(file.samples.size(), 1u);
  EXPECT_EQ(file.samples[0].op, Op::Gemm(DType::kBf16, 128, 256, 512));
  EXPECT_EQ(file.samples[0].gpu, "my-gpu");
  EXPECT_EQ(file.samples[0].time, Duration::Nanoseconds(12'500));
  EXPECT_EQ(ParseSamples("time_us,k,n,m,gpu,dtype,spread\n1,2,3,4,g,fp16,0.1\n", "t.csv")
                .samples[0]
                .spread,
            0.1);
  EXPECT_EQ(ErrorOf("gpu,m,n,k,time_us\n"),
            "t.csv:1: got no column \"dtype\", want one, as in times of GEMMs");
  EXPECT_EQ(ErrorOf("gpu,m,n,k,dtype,time_us\ng,0,1,1,bf16,1\n").find("t.csv:2: m: got \"0\""), 0u);
}

TEST(SampleFileTest, TablesOfOthersAreNotTakenForSamples) {
  EXPECT_TRUE(IsSampleTable(kShortest));
  EXPECT_TRUE(IsSampleTable(Gzip(kShortest)));
  EXPECT_TRUE(IsSampleTable("gpu_id,system,m,n,latency_ms"));  // without k
  EXPECT_FALSE(IsSampleTable("id,source,table,model,layers,hidden,gpu,software"));
  EXPECT_FALSE(IsSampleTable("source,system,gpu_id,dtype,n_ranks,bytes,time_us,valid"));
  EXPECT_FALSE(IsSampleTable(""));
}

}  // namespace
}  // namespace stagecraft
