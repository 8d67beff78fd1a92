#include "costmodel/learned/samples/sample_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/learned/samples/attention_kernels.h"
#include "costmodel/learned/samples/csv_field.h"

namespace stagecraft {
namespace {

enum Column {
  kKind,
  kGpu,
  kTime,
  kDType,
  kM,
  kN,
  kK,
  kDirection,
  kCausal,
  kUse,
  kSequences,
  kKeyBatch,
  kBatch,
  kBytes,
  kKernels,
  kSpread,
  kRepeats,
  kClock,
  kWatts,
  kName,
  kSplit,
  kSoftware,
  kSource,
  kWholeCalls,
  kAlignment,
  kNonzeros,
};
constexpr std::string_view kColumns[] = {
    "kind",      "gpu",       "time_us", "dtype",    "m",         "n",
    "k",         "direction", "causal",  "use",      "sequences", "kv_batch",
    "batch",     "bytes",     "kernels", "spread",   "repeats",   "clock_mhz",
    "watts",     "name",      "split",   "software", "source",    "times_whole_calls",
    "alignment", "nonzeros"};
constexpr int kRequired = kTime + 1;
// A table of GEMMs has no column for the kind, but needs their sizes.
constexpr int kRequiredOfGemms = kK + 1 - kGpu;
constexpr const char* kHeader =
    "kind,dtype,direction,causal,use,sequences,kv_batch,batch,m,n,k,bytes,kernels,gpu,time_us,"
    "spread,repeats,clock_mhz,watts,name,split,software,source,times_whole_calls,alignment,"
    "nonzeros\n";

constexpr OpKind kKinds[] = {OpKind::kGemm,      OpKind::kAttention,   OpKind::kElementwise,
                             OpKind::kOptimizer, OpKind::kConvolution, OpKind::kNorm,
                             OpKind::kSoftmax,   OpKind::kSparse};
constexpr DType kTypes[] = {DType::kFp32, DType::kTf32, DType::kFp16,
                            DType::kBf16, DType::kFp8,  DType::kNvfp4};
constexpr const char* kDirections[] = {"forward", "backward"};
constexpr const char* kUses[] = {"training", "serving"};
constexpr double kMaxSpread = 1e3;
constexpr double kMaxMegahertz = 1e6;
constexpr double kHertzPerMegahertz = 1e6;
constexpr double kMaxWatts = 1e6;
constexpr double kMilliwattsPerWatt = 1e3;
constexpr int64_t kMaxBytes = int64_t{1} << 56;
constexpr Duration kLongestTime = Duration::Nanoseconds(1'000'000'000'000'000);  // CsvRows::Time's

// One row of either table: that of GEMMs begins with the second column.
class Row {
 public:
  Row(const CsvRows& rows, Column first) : rows_(rows), first_(first) {}

  bool Has(Column column) const { return column >= first_ && !rows_.IsEmpty(At(column)); }
  std::string_view Text(Column column) const {
    return Has(column) ? rows_.Text(At(column)) : std::string_view();
  }
  std::string_view Word(Column column) const { return rows_.Word(At(column)); }
  int64_t Integer(Column column, int64_t low, int64_t high) const {
    return rows_.Integer(At(column), low, high);
  }
  double Number(Column column, double low, double high) const {
    return rows_.Number(At(column), low, high);
  }
  Duration Time(Column column, Duration unit) const { return rows_.Time(At(column), unit); }
  bool Flag(Column column) const { return rows_.Flag(At(column)); }
  [[noreturn]] void Fail(Column column, const std::string& want) const {
    rows_.Fail(At(column), want);
  }

 private:
  int At(Column column) const { return column - first_; }

  const CsvRows& rows_;
  const Column first_;
};

// Whether the kind moves `bytes`, and does nothing else that takes time.
bool HasBytes(OpKind kind) {
  return kind != OpKind::kGemm && kind != OpKind::kAttention && kind != OpKind::kSparse;
}

int64_t Integer(const Row& row, Column column, int64_t least, int64_t most, int64_t if_empty) {
  if (!row.Has(column) && if_empty >= least) return if_empty;
  return row.Integer(column, least, most);
}

// Returns the value whose Name() is in the field.
template <typename Enum, size_t size>
Enum Named(const Row& row, Column column, const Enum (&values)[size]) {
  std::vector<std::string> known;
  for (const Enum value : values) {
    if (row.Text(column) == Name(value)) return value;
    known.emplace_back(Name(value));
  }
  row.Fail(column, fmt::format("one of {}", fmt::join(known, ", ")));
}

// Returns the index of the field among two words; an empty field is the first.
int Choice(const Row& row, Column column, const char* const (&words)[2]) {
  if (!row.Has(column) || row.Text(column) == words[0]) return 0;
  if (row.Text(column) != words[1]) row.Fail(column, fmt::format("{} or {}", words[0], words[1]));
  return 1;
}

void ReadAttention(const Row& row, Op& op) {
  op.direction = static_cast<Direction>(Choice(row, kDirection, kDirections));
  op.causal = row.Has(kCausal) && row.Flag(kCausal);
  op.use = static_cast<AttentionUse>(Choice(row, kUse, kUses));
  op.sequences = Integer(row, kSequences, 1, kMaxSize, op.sequences);
  op.kv_batch = Integer(row, kKeyBatch, 0, op.batch, op.kv_batch);
}

// Samples of sparse products run from their entries: expanded ones are two other ops.
void ReadSparse(const Row& row, Op& op) {
  const bool is_sparse = op.kind == OpKind::kSparse;
  op.nonzeros = Integer(row, kNonzeros, 0, is_sparse ? op.k * op.n : 0, op.nonzeros);
  if (is_sparse) op.product = SparseProduct::kFromEntries;
}

Op ReadOp(const Row& row, OpKind kind) {
  Op op;
  op.kind = kind;
  if (HasRows(op.kind) || row.Has(kDType)) op.dtype = Named(row, kDType, kTypes);
  op.batch = Integer(row, kBatch, 1, kMaxSize, op.batch);
  op.m = Integer(row, kM, HasRows(op.kind) ? 1 : 0, kMaxSize, op.m);
  op.n = Integer(row, kN, HasRows(op.kind) ? 1 : 0, kMaxSize, op.n);
  op.k = Integer(row, kK, HasOperands(op.kind) ? 1 : 0, kMaxSize, op.k);
  op.bytes = Bytes(Integer(row, kBytes, HasBytes(op.kind) ? 1 : 0, kMaxBytes, op.bytes.count()));
  op.kernels = static_cast<int>(
      Integer(row, kKernels, FewestKernels(op.kind), std::numeric_limits<int>::max(), op.kernels));
  ReadAttention(row, op);
  ReadSparse(row, op);
  if (row.Has(kAlignment)) {
    op.alignment = static_cast<int>(row.Integer(kAlignment, 1, kAlignedBytes));
    if (!CanBeAligned(kind, op.alignment)) {
      row.Fail(kAlignment, "1, 2, 4, 8 or 16, below 16 for a gemm only");
    }
  }
  return op;
}

void ReadSample(const Row& row, OpKind kind, Sample& sample) {
  sample.op = ReadOp(row, kind);
  sample.gpu = row.Word(kGpu);
  sample.time = row.Time(kTime, 1_us);
  if (row.Has(kSpread)) sample.spread = row.Number(kSpread, 0, kMaxSpread);
  sample.repeats = static_cast<int>(Integer(row, kRepeats, 0, std::numeric_limits<int>::max(), 0));
  if (row.Has(kClock)) {
    sample.clock_hz = std::round(row.Number(kClock, 0, kMaxMegahertz) * kHertzPerMegahertz);
  }
  if (row.Has(kWatts)) {
    sample.watts =
        std::round(row.Number(kWatts, 0, kMaxWatts) * kMilliwattsPerWatt) / kMilliwattsPerWatt;
  }
  sample.name = row.Text(kName);
  if (kind == OpKind::kAttention) ReadKernelName(sample.name, sample.op);
  sample.split = row.Text(kSplit);
  sample.software = row.Text(kSoftware);
  sample.source = row.Text(kSource);
  sample.times_whole_calls = row.Has(kWholeCalls) && row.Flag(kWholeCalls);
}

bool Read(const CsvRows& rows, Sample& sample) {
  const Row row(rows, kKind);
  ReadSample(row, Named(row, kKind, kKinds), sample);
  return true;
}

bool ReadGemm(const CsvRows& rows, Sample& sample) {
  ReadSample(Row(rows, kGpu), OpKind::kGemm, sample);
  return true;
}

constexpr TableFormat kTable = {"samples", kColumns, kRequired, true, Read};
constexpr TableFormat kGemmTable = {"times of GEMMs", std::span(kColumns).subspan(kGpu),
                                    kRequiredOfGemms, true, ReadGemm};

// Returns why the table has no column for something in the sample or could not be read again; empty
// if it can hold the sample.
std::string Refusal(const Sample& sample) {
  const Op& op = sample.op;
  bool is_known = false;
  for (const OpKind kind : kKinds) is_known = is_known || kind == op.kind;
  if (!is_known) return fmt::format("got {}, want an op without a fabric", Name(op.kind));
  Op named = op;
  if (op.kind == OpKind::kAttention) ReadKernelName(sample.name, named);
  if (named != op) return "got an attention kernel that the name does not tell";
  if (op.kind == OpKind::kSparse && op.product != SparseProduct::kFromEntries) {
    return fmt::format("got a sparse product that runs {}, want one from entries",
                       Name(op.product));
  }
  if (op.fabric != Fabric() || op.profiled != Duration()) {
    return "got a fabric or a profiled time, want an op without them";
  }
  if (!(sample.clock_hz >= 0 && sample.clock_hz <= kMaxMegahertz * kHertzPerMegahertz)) {
    return fmt::format("got a clock of {} Hz, want 0 to 1e12", sample.clock_hz);
  }
  if (!(sample.watts >= 0 && sample.watts <= kMaxWatts)) {
    return fmt::format("got a power of {} W, want 0 to 1e6", sample.watts);
  }
  if (sample.gpu.empty()) return "got no gpu, want the id of a device";
  if (!(sample.spread >= 0 && sample.spread <= kMaxSpread)) {
    return fmt::format("got a spread of {}, want 0 to {}", sample.spread, kMaxSpread);
  }
  if (std::max({op.batch, op.m, op.n, op.k, op.sequences}) > kMaxSize) {
    return fmt::format("got {}, want sizes of at most {}", Describe(op), kMaxSize);
  }
  if (op.bytes.count() < (HasBytes(op.kind) ? 1 : 0) || op.bytes.count() > kMaxBytes) {
    return fmt::format("got {} bytes, want 1 to {}", op.bytes.count(), kMaxBytes);
  }
  if (const int fewest = FewestKernels(op.kind); op.kernels < fewest) {
    return fmt::format("got {} kernels, want at least {}", op.kernels, fewest);
  }
  if (sample.time < 1_ns || sample.time > kLongestTime) {
    return fmt::format("got {} ns, want 1 to {}", sample.time.ns(), kLongestTime.ns());
  }
  return "";
}

}  // namespace

const TableFormat& SampleTable() { return kTable; }
const TableFormat& GemmTable() { return kGemmTable; }

std::string SamplesToCsv(std::span<const Sample> samples, const std::string& name) {
  fmt::memory_buffer buffer;
  const auto out = std::back_inserter(buffer);
  fmt::format_to(out, "{}", kHeader);
  for (size_t i = 0; i < samples.size(); ++i) {
    const Sample& sample = samples[i];
    const Op& op = sample.op;
    const std::string refusal = Refusal(sample);
    if (!refusal.empty()) throw InputError(fmt::format("{}: samples[{}]: {}", name, i, refusal));
    fmt::format_to(out, "{},{},{},{:d},{},{},{},{},{},{},{},{},{},", Name(op.kind), Name(op.dtype),
                   kDirections[static_cast<int>(op.direction)], op.causal,
                   kUses[static_cast<int>(op.use)], op.sequences, op.kv_batch, op.batch, op.m, op.n,
                   op.k, op.bytes.count(), op.kernels);
    fmt::format_to(out, "{},{},{},{},{},{},{},{},{},{},{:d},{},{}\n", CsvField(sample.gpu),
                   Decimal(sample.time.ns(), 3), sample.spread, sample.repeats,
                   Decimal(std::llround(sample.clock_hz), 6),
                   Decimal(std::llround(sample.watts * kMilliwattsPerWatt), 3),
                   CsvField(sample.name), CsvField(sample.split), CsvField(sample.software),
                   CsvField(sample.source), sample.times_whole_calls, op.alignment, op.nonzeros);
  }
  return fmt::to_string(buffer);
}

}  // namespace stagecraft
