// Measures the rate of the learned model, in ops/s on one core, on batches of 10,000 distinct ops
// with their spreads, the time to read the model, and the time of a memorised op.
//
// "vs_analytical" is the time over that of AnalyticalModel for the same ops in the same process.
// The model is the one in the binary, if it was fitted; else it is fitted to 20,000 rows of
// $STAGECRAFT_SHARED/data/kernels/gemm_bf16.csv.gz, or to synthetic ones, and to synthetic streams
// and attention.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include "costmodel/analytical_model.h"
#include "costmodel/learned/families/attention.h"
#include "costmodel/learned/families/streams.h"
#include "costmodel/learned/families/tensor_gemm.h"
#include "costmodel/learned/learned_model.h"
#include "costmodel/learned/learned_testing.h"
#include "costmodel/learned/samples/sample_file.h"
#include "costmodel/memo_model.h"

namespace stagecraft {
namespace {

constexpr size_t kOps = 10'000;
constexpr size_t kRows = 20'000;
constexpr char kKnown[] = "a100-sxm4-80gb";
constexpr char kUnknown[] = "rtx4090-24gb";

Op RandomAttention(Random& random) {
  const int64_t heads = SizeBetween(random, 8, 1024);
  const int64_t length = SizeBetween(random, 128, 8192);
  Op op = Op::Attention(DType::kBf16, Direction::kForward, heads, length, length, 128, true);
  op.use = AttentionUse::kServing;
  return op;
}
Op RandomStream(Random& random) { return Op::Elementwise(Bytes(SizeBetween(random, 1e4, 1e9))); }
// Returns a GEMM of a few tokens, as in decoding.
Op RandomDecoding(Random& random) {
  Op op = RandomProduct(random);
  op.m = 1 + op.m % 64;
  return op;
}

template <typename Draw>
std::vector<Op> Draws(const Draw& draw) {
  Random random(1);
  std::vector<Op> ops;
  for (size_t i = 0; i < kOps; ++i) ops.push_back(draw(random));
  return ops;
}

std::vector<Sample> TrainingSamples() {
  std::vector<Sample> samples;
  Random random(1);
  if (const char* shared = std::getenv("STAGECRAFT_SHARED"); shared != nullptr && *shared != 0) {
    const auto all = ReadSamples(std::string(shared) + "/data/kernels/gemm_bf16.csv.gz");
    const size_t count = std::min(kRows, all.size());
    for (size_t i = 0; i < count; ++i) samples.push_back(all[i * all.size() / count]);
  }
  const bool has_products = !samples.empty();
  for (const char* gpu : {kKnown, "h100-sxm5-80gb"}) {
    for (size_t i = 0; i < kRows / 10; ++i) {
      const double error = Noise(random, 0.05);
      samples.push_back(SampleOf(StreamFamily(), RandomStream(random), gpu, error));
      samples.push_back(SampleOf(AttentionFamily(), RandomAttention(random), gpu, error));
      samples.back().name = "flash_attention";
      if (has_products) continue;
      for (int row = 0; row < 5; ++row) {
        const Op op = RandomProduct(random);
        samples.push_back(SampleOf(TensorGemmFamily(), op, gpu, Noise(random, 0.05)));
      }
    }
  }
  return samples;
}

const LearnedModel& Model() {
  static const LearnedModel model = [] {
    const Op op = Op::Gemm(DType::kBf16, 4096, 4096, 4096);
    const LearnedModel& shipped = LearnedModel::Shipped();
    const Basis basis = shipped.Predict({&op, 1}, CatalogueGpu(kKnown))[0].basis;
    std::cerr << (basis == Basis::kLearned ? "the model in the binary\n" : "fitting a model\n");
    return basis == Basis::kLearned ? shipped : LearnedModel::Fit(TrainingSamples());
  }();
  return model;
}

// Returns the CPU time since `start`: other programs run beside this one.
double SecondsSince(std::clock_t start) {
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

double SecondsOf(const CostModel& model, const std::vector<Op>& ops, const Device& device) {
  constexpr int kTimes = 20;
  const std::clock_t start = std::clock();
  for (int i = 0; i < kTimes; ++i) benchmark::DoNotOptimize(model.Predict(ops, device));
  return SecondsSince(start) / kTimes;
}

void Run(benchmark::State& state, const CostModel& model, const std::vector<Op>& ops,
         const std::string& gpu) {
  const Device& device = CatalogueGpu(gpu);
  const double analytical = SecondsOf(AnalyticalModel(), ops, device);
  const std::clock_t start = std::clock();
  for (auto _ : state) benchmark::DoNotOptimize(model.Predict(ops, device));
  const double batches = static_cast<double>(state.iterations());
  state.counters["ops/s"] =
      benchmark::Counter(static_cast<double>(ops.size()) * batches, benchmark::Counter::kIsRate);
  state.counters["vs_analytical"] = SecondsSince(start) / batches / analytical;
}

void BM_Gemm(benchmark::State& state, const char* gpu) {
  Run(state, Model(), Draws(RandomProduct), gpu);
}
BENCHMARK_CAPTURE(BM_Gemm, known_gpu, kKnown)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Gemm, unknown_gpu, kUnknown)->Unit(benchmark::kMillisecond);

void BM_DecodingGemm(benchmark::State& state, const char* gpu) {
  Run(state, Model(), Draws(RandomDecoding), gpu);
}
BENCHMARK_CAPTURE(BM_DecodingGemm, known_gpu, kKnown)->Unit(benchmark::kMillisecond);

void BM_Attention(benchmark::State& state, const char* gpu) {
  Run(state, Model(), Draws(RandomAttention), gpu);
}
BENCHMARK_CAPTURE(BM_Attention, known_gpu, kKnown)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Attention, unknown_gpu, kUnknown)->Unit(benchmark::kMillisecond);

void BM_Streams(benchmark::State& state, const char* gpu) {
  Run(state, Model(), Draws(RandomStream), gpu);
}
BENCHMARK_CAPTURE(BM_Streams, known_gpu, kKnown)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Streams, unknown_gpu, kUnknown)->Unit(benchmark::kMillisecond);

void BM_Analytical(benchmark::State& state) {
  Run(state, AnalyticalModel(), Draws(RandomProduct), kKnown);
}
BENCHMARK(BM_Analytical)->Unit(benchmark::kMillisecond);

// Predicts GEMMs that were predicted before.
void BM_Memorised(benchmark::State& state) {
  const MemoModel memo(Model());
  const std::vector<Op> ops = Draws(RandomProduct);
  memo.Predict(ops, CatalogueGpu(kKnown));
  Run(state, memo, ops, kKnown);
}
BENCHMARK(BM_Memorised)->Unit(benchmark::kMillisecond);

// Reads the bytes of a model, as its first use does.
void BM_Load(benchmark::State& state) {
  const std::string bytes = Model().ToProto().SerializeAsString();
  for (auto _ : state) {
    CostModelProto proto;
    proto.ParseFromString(bytes);
    benchmark::DoNotOptimize(LearnedModel::FromProto(proto, "benchmark"));
  }
  state.counters["bytes"] = static_cast<double>(bytes.size());
  state.counters["bytes/s"] = benchmark::Counter(
      static_cast<double>(bytes.size()) * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate);
}
BENCHMARK(BM_Load)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stagecraft
