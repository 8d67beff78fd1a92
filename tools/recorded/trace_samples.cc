#include "tools/recorded/trace_samples.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/statistics.h"
#include "sim/cluster/node_catalogue.h"
#include "tools/recorded/attention_samples.h"
#include "tools/recorded/kernel_names.h"
#include "tools/recorded/sampled_calls.h"

namespace stagecraft {
namespace {

// The place of a product in the order of samples.
auto Key(const Op& op) { return std::tuple(op.dtype, op.batch, op.m, op.n, op.k, op.alignment); }

// "[0, 8, 16]"; no value for lists that are shortened or no lists.
std::optional<std::vector<int>> RanksOf(const std::string& text) {
  std::vector<int> ranks;
  if (!text.starts_with('[') || !text.ends_with(']')) return {};
  const char* at = text.data() + 1;
  const char* const end = text.data() + text.size() - 1;
  while (at != end) {
    int rank = -1;
    const auto [next, error] = std::from_chars(at, end, rank);
    if (error != std::errc() || rank < 0) return {};
    ranks.push_back(rank);
    at = next;
    while (at != end && (*at == ',' || *at == ' ')) ++at;
  }
  return ranks;
}

std::optional<OpKind> KindOf(KernelClass kind) {
  for (int i = 0; i < kOpKindCount; ++i) {
    const auto op = static_cast<OpKind>(i);
    if (IsCollective(op) && ClassOf(op) == kind) return op;
  }
  return {};
}

class Sampler {
 public:
  Sampler(const std::vector<Recording>& recordings, const SampleWish& wish)
      : recordings_(recordings),
        wish_(wish),
        attention_(wish.gpu, wish.is_attention_causal, wish.format) {}

  TraceSamples Take() {
    for (const Recording& recording : recordings_) {
      const int first = FirstStepOf(recording);
      TakeGemms(recording, first);
      attention_.Take(recording, first);
      TakeCollectives(recording, first);
    }
    FinishGemms();
    if (wish_.cluster != nullptr) FinishCollectives();
    NoteWhatIsLeftOut();
    taken_.attentions = attention_.Finish(recordings_[0].profiler, taken_.notes);
    return std::move(taken_);
  }

 private:
  // The kernels of one operator that multiplies matrices.
  struct Product {
    int64_t ns = 0;
    int32_t gemm = -1, device = 0;
    std::optional<DType> told;  // by their names
  };

  // One collective of a group, as all recorded ranks ran it.
  struct Exchange {
    RecordedCollective of;
    std::string group, ranks, dtype, file, software;
    int64_t least_ns = std::numeric_limits<int64_t>::max();
    std::set<int> recordings;
  };

  void TakeGemms(const Recording& recording, int first_step) {
    std::map<int32_t, Product> products;  // by operator
    for (const RecordedKernel& kernel : recording.kernels) {
      if (kernel.kind == KernelClass::kGemm) {
        ++gemm_kernels_;
        if (kernel.gemm < 0) ++unsized_;
      }
      if (kernel.gemm < 0 || kernel.slice < 0) continue;
      if (first_step >= 0 && kernel.place.step == first_step) continue;
      Product& product = products[kernel.slice];
      product.ns += kernel.end_ns - kernel.start_ns;
      product.gemm = kernel.gemm;
      product.device = kernel.device;
      if (!recording.has_types && !product.told) {
        product.told = FormatOfKernel(recording.names[kernel.name]);
      }
    }
    for (const auto& [slice, product] : products) {
      if (product.ns > 0) AddGemm(recording, product);
    }
  }

  void AddGemm(const Recording& recording, const Product& product) {
    Op op = recording.gemms[product.gemm];
    const std::optional<DType> format = FormatOf(recording, op.dtype, product.told, wish_.format);
    if (!format) {
      ++formless_;
      return;
    }
    if (!recording.has_types) {
      op = Op::GemmOfRows(*format, op.m, op.n, op.k, op.batch, {op.k, op.n});
    }
    const std::string gpu = GpuIdOf(recording, product.device, wish_.gpu);
    SampledCalls& of = gemms_[{gpu, Key(op)}];
    of.op = op;
    of.gpu = gpu;
    of.software = recording.software;
    of.seconds.push_back(1e-9 * static_cast<double>(product.ns));
  }

  void FinishGemms() {
    for (const auto& [key, calls] : gemms_) {
      taken_.gemms.push_back(SampleOf(calls, "linear", recordings_[0].profiler));
    }
  }

  void TakeCollectives(const Recording& recording, int first_step) {
    for (const RecordedKernel& kernel : recording.kernels) {
      if (!IsCommunication(kernel.kind)) continue;
      ++collective_kernels_;
      if (kernel.collective < 0) {
        ++unstated_;
        continue;
      }
      const RecordedCollective& of = recording.collectives[kernel.collective];
      if (of.bytes <= Bytes() || of.ranks < 0 || !KindOf(of.kind)) {
        ++unstated_;
        continue;
      }
      if (first_step >= 0 && kernel.place.step == first_step) continue;
      const std::string group = of.group < 0 ? "" : recording.names[of.group];
      // Without a sequence number, nothing tells which kernels of other ranks belong to this one.
      const int64_t sequence = of.sequence >= 0 ? of.sequence : -2 - std::ssize(exchanges_);
      Exchange& exchange = exchanges_[{group, sequence, of.kind}];
      exchange.of = of;
      exchange.group = group;
      exchange.ranks = recording.names[of.ranks];
      exchange.dtype = of.dtype < 0 ? "" : recording.names[of.dtype];
      exchange.file = recording.file;
      exchange.software = recording.software;
      exchange.least_ns = std::min(exchange.least_ns, kernel.end_ns - kernel.start_ns);
      exchange.recordings.insert(static_cast<int>(&recording - recordings_.data()));
    }
  }

  void FinishCollectives() {
    using Point = std::tuple<KernelClass, std::string, int64_t, std::string>;
    std::map<Point, std::pair<const Exchange*, std::vector<double>>> points;
    for (const auto& [key, exchange] : exchanges_) {
      if (exchange.least_ns <= 0) continue;
      if (exchange.recordings.size() == 1) ++alone_;
      auto& [first, seconds] =
          points[{exchange.of.kind, exchange.ranks, exchange.of.bytes.count(), exchange.dtype}];
      if (first == nullptr) first = &exchange;
      seconds.push_back(1e-9 * static_cast<double>(exchange.least_ns));
    }
    for (const auto& [point, calls] : points) {
      AddCollective(*calls.first, Duration::Seconds(Median(calls.second)));
    }
  }

  void AddCollective(const Exchange& exchange, Duration time) {
    const Cluster& cluster = *wish_.cluster;
    const std::optional<std::vector<int>> ranks = RanksOf(exchange.ranks);
    if (!ranks || ranks->size() < 2) {
      ++shortened_;
      return;
    }
    for (const int rank : *ranks) {
      if (rank < cluster.device_count()) continue;
      throw InputError(fmt::format("{}: Process Group Ranks: got rank {}, but {} has {} devices",
                                   exchange.file, rank, cluster.name(), cluster.device_count()));
    }
    const OpKind kind = *KindOf(exchange.of.kind);
    const bool is_pair = kind == OpKind::kSendRecv && ranks->size() == 2;
    const Fabric fabric =
        is_pair ? cluster.DescribePair((*ranks)[0], (*ranks)[1], 1) : cluster.DescribeGroup(*ranks);
    NetworkSample sample;
    sample.op = Op::Collective(kind, exchange.of.bytes, fabric);
    sample.gpu = cluster.device((*ranks)[0]).id;
    const std::string& node = cluster.node(0).id;
    if (NodeCatalogue::Embedded().Find(node) != nullptr) sample.node = node;
    sample.system = cluster.name();
    sample.timing = Timing::kKernel;
    sample.stride = (*ranks)[1] - (*ranks)[0];
    sample.time = time;
    sample.dtype = exchange.dtype;
    sample.software = exchange.software;
    sample.source = recordings_[0].profiler;
    taken_.collectives.push_back(std::move(sample));
  }

  void NoteWhatIsLeftOut() {
    const auto note = [&](int64_t count, const std::string& sentence) {
      if (count > 0) taken_.notes.push_back(fmt::format("{} {}", count, sentence));
    };
    note(unsized_, fmt::format("of {} kernels of matrix products have no sizes (record_shapes=True "
                               "records them) and give no sample",
                               gemm_kernels_));
    note(formless_,
         "calls of matrix products give no sample: the names of their kernels do not tell the "
         "number format (--sample-precision says it)");
    if (wish_.cluster == nullptr) return;
    note(unstated_,
         fmt::format("of {} kernels of collectives have no bytes or no ranks and give no "
                     "sample",
                     collective_kernels_));
    note(shortened_,
         "sizes of collectives give no sample, as the list of their ranks is shortened");
    note(alone_,
         "collectives were recorded on one of their ranks only: their times contain its "
         "waiting for the others");
  }

  const std::vector<Recording>& recordings_;
  const SampleWish& wish_;
  TraceSamples taken_;
  std::map<std::pair<std::string, decltype(Key(Op()))>, SampledCalls> gemms_;
  AttentionSampler attention_;
  std::map<std::tuple<std::string, int64_t, KernelClass>, Exchange> exchanges_;
  int64_t gemm_kernels_ = 0, unsized_ = 0, formless_ = 0, collective_kernels_ = 0, unstated_ = 0;
  int64_t shortened_ = 0, alone_ = 0;
};

}  // namespace

TraceSamples SamplesOf(const std::vector<Recording>& recordings, const SampleWish& wish) {
  return Sampler(recordings, wish).Take();
}

}  // namespace stagecraft
