#include "costmodel/learned/samples/importers.h"

#include <string>

#include "costmodel/learned/samples/attention_kernels.h"

namespace stagecraft {
namespace {

constexpr int64_t kFp32 = ElementBits(DType::kFp32) / 8;

// Sizes of this range keep the traffic of a row within 64 bits; the reader of
// the file bounds their product.
int64_t Size(const CsvRows& row, int column) { return row.Integer(column, 1, kMaxSize); }

// NVIDIA aiconfigurator: GEMMs in bf16.
namespace gemm_bf16 {
enum Column { kGpu, kSystem, kM, kN, kK, kTime };
constexpr std::string_view kColumns[] = {"gpu_id", "system", "m", "n", "k", "latency_ms"};

bool Read(const CsvRows& row, Sample& sample) {
  sample.op = Op::Gemm(DType::kBf16, Size(row, kM), Size(row, kN), Size(row, kK));
  sample.gpu = row.Word(kGpu);
  sample.time = row.Time(kTime, 1_ms);
  sample.source = "aiconfigurator";
  return true;
}
}  // namespace gemm_bf16

// NVIDIA aiconfigurator: attention of serving frameworks.
namespace attention {
enum Column {
  kGpu,
  kFramework,
  kKernel,
  kBatch,
  kSequence,
  kHeads,
  kKeyHeads,
  kHeadSize,
  kQueryType,
  kKeyType,
  kCausal,
  kTime
};
constexpr std::string_view kColumns[] = {"gpu_id",  "framework", "kernel",   "batch",
                                         "seq",     "heads",     "kv_heads", "head_dim",
                                         "q_dtype", "kv_dtype",  "causal",   "latency_ms"};

DType Type(const CsvRows& row, int column) {
  const std::string_view text = row.Text(column);
  for (const DType dtype : {DType::kBf16, DType::kFp16, DType::kFp8}) {
    if (text == Name(dtype)) return dtype;
  }
  row.Fail(column, "bf16, fp16 or fp8");
}

bool Read(const CsvRows& row, Sample& sample) {
  const int64_t batch = row.Integer(kBatch, 1, int64_t{1} << 20);
  const int64_t sequence = Size(row, kSequence);
  const int64_t heads = row.Integer(kHeads, 1, int64_t{1} << 20);
  const int64_t key_heads = row.Integer(kKeyHeads, 1, heads);
  if (heads % key_heads != 0) row.Fail(kKeyHeads, "a divisor of " + std::to_string(heads));
  const DType queries = Type(row, kQueryType);
  // 8-bit keys make the arithmetic 8-bit, whatever the queries are.
  const bool has_fp8_keys = Type(row, kKeyType) == DType::kFp8;
  const DType dtype = has_fp8_keys ? DType::kFp8 : queries;
  sample.op = Op::Attention(dtype, Direction::kForward, batch * heads, sequence, sequence,
                            Size(row, kHeadSize), row.Flag(kCausal));
  sample.op.sequences = batch;
  sample.op.kv_batch = batch * key_heads;
  sample.op.use = AttentionUse::kServing;
  sample.gpu = row.Word(kGpu);
  sample.time = row.Time(kTime, 1_ms);
  sample.name = row.Word(kKernel);
  if (has_fp8_keys && queries != DType::kFp8) sample.name += kConvertsKeys;
  ReadKernelName(sample.name, sample.op);
  sample.software = row.Text(kFramework);
  sample.source = "aiconfigurator";
  return true;
}
}  // namespace attention

// NeuSight: fp32 kernels of PyTorch.
namespace neusight {
enum Column { kSplit, kOp, kGpu, kB, kM, kN, kK, kH, kTime };
constexpr std::string_view kColumns[] = {"split", "op", "gpu_id", "B",         "M",
                                         "N",     "K",  "H",      "latency_ms"};

constexpr std::string_view kOfTwoTensors[] = {"add", "mul", "div", "pow"};
constexpr std::string_view kOfOneTensor[] = {"addu", "mulu", "divu", "powu",
                                             "relu", "gelu", "tanh"};

// Returns how many tensors an elementwise op reads and writes; 0 if it is no elementwise op.
int Tensors(std::string_view name) {
  for (const std::string_view known : kOfTwoTensors) {
    if (name == known) return 3;
  }
  for (const std::string_view known : kOfOneTensor) {
    if (name == known) return 2;
  }
  return 0;
}

Op ReadOp(const CsvRows& row) {
  const std::string_view name = row.Text(kOp);
  // A linear layer has M tokens, N inputs and K outputs. A batched GEMM sums over N.
  if (name == "linear" || name == "bmm") {
    return Op::Gemm(DType::kFp32, Size(row, kM), Size(row, kK), Size(row, kN), Size(row, kB));
  }
  const int64_t rows = row.Integer(kB, 1, int64_t{1} << 28);
  const int64_t width = row.Integer(kH, 1, int64_t{1} << 28);
  const auto traffic = [&](int64_t tensors) { return Bytes(tensors * kFp32 * rows * width); };
  if (name == "ln") return Op::Rowwise(OpKind::kNorm, DType::kFp32, rows, width, traffic(2));
  if (name == "softmax") {
    return Op::Rowwise(OpKind::kSoftmax, DType::kFp32, rows, width, traffic(2));
  }
  const int tensors = Tensors(name);
  if (tensors == 0) {
    row.Fail(kOp,
             "linear, bmm, ln, softmax, add, mul, div, pow, addu, mulu, divu, powu, relu, gelu or "
             "tanh");
  }
  Op op = Op::Elementwise(traffic(tensors));
  op.dtype = DType::kFp32;
  return op;
}

bool Read(const CsvRows& row, Sample& sample) {
  sample.op = ReadOp(row);
  sample.gpu = row.Word(kGpu);
  sample.time = row.Time(kTime, 1_ms);
  sample.name = row.Text(kOp);
  sample.split = row.Text(kSplit);
  sample.source = "NeuSight";
  sample.times_whole_calls = true;
  return true;
}
}  // namespace neusight

// Vidur: fp16 GEMMs in layers of language models.
namespace vidur {
enum Column { kGpu, kModel, kOp, kDegree, kM, kN, kK, kMedian, kDeviation };
constexpr std::string_view kColumns[] = {"gpu_id", "model", "op",        "tp",    "m",
                                         "n",      "k",     "median_ms", "std_ms"};

bool Read(const CsvRows& row, Sample& sample) {
  sample.op = Op::Gemm(DType::kFp16, Size(row, kM), Size(row, kN), Size(row, kK));
  sample.gpu = row.Word(kGpu);
  sample.time = row.Time(kMedian, 1_ms);
  constexpr double kLongest = 1e9;  // ms, as for times
  sample.spread = row.Number(kDeviation, 0, kLongest) / row.Number(kMedian, 0, kLongest);
  sample.name = row.Word(kOp);
  sample.source = "Vidur";
  return true;
}
}  // namespace vidur

// Alpa's profiling database: square GEMMs, some rows of which are no measurements.
namespace alpa {
enum Column { kGpu, kType, kM, kN, kK, kTime, kValid };
constexpr std::string_view kColumns[] = {"gpu_id", "dtype", "m", "n", "k", "us", "valid"};

bool Read(const CsvRows& row, Sample& sample) {
  if (!row.Flag(kValid)) return false;
  const bool is_fp16 = row.Text(kType) == "fp16";
  if (!is_fp16 && row.Text(kType) != "fp32") row.Fail(kType, "fp16 or fp32");
  sample.op =
      Op::Gemm(is_fp16 ? DType::kFp16 : DType::kFp32, Size(row, kM), Size(row, kN), Size(row, kK));
  sample.gpu = row.Word(kGpu);
  sample.time = row.Time(kTime, 1_us);
  sample.source = "Alpa";
  sample.times_whole_calls = true;
  return true;
}
}  // namespace alpa

template <size_t size>
constexpr TableFormat Format(const char* name, const std::string_view (&columns)[size],
                             bool (*read)(const CsvRows&, Sample&)) {
  return {name, columns, static_cast<int>(size), false, read};
}

constexpr TableFormat kTables[] = {
    Format("aiconfigurator GEMM", gemm_bf16::kColumns, gemm_bf16::Read),
    Format("aiconfigurator attention", attention::kColumns, attention::Read),
    Format("NeuSight kernels", neusight::kColumns, neusight::Read),
    Format("Vidur GEMM", vidur::kColumns, vidur::Read),
    Format("Alpa GEMM", alpa::kColumns, alpa::Read),
};

}  // namespace

std::span<const TableFormat> ThirdPartyTables() { return kTables; }

}  // namespace stagecraft
