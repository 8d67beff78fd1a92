#include "costmodel/op_proto.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/enum_to_proto.h"

namespace stagecraft {
namespace {

constexpr double kMaxNanoseconds = 1e17;  // of one profiled op: three years

template <typename T>
[[noreturn]] void Fail(std::string_view path, const char* field, T got, std::string_view want) {
  throw InputError(fmt::format("{}.{}: got {}, want {}", path, field, got, want));
}

int64_t AtLeast(int64_t least, int64_t value, std::string_view path, const char* field) {
  if (value < least) Fail(path, field, value, fmt::format(">= {}", least));
  return value;
}

Duration Time(int64_t ns, std::string_view path, const char* field) {
  if (ns < 0 || ns > kLongestTime.ns()) {
    Fail(path, field, ns, fmt::format("from 0 to {}", kLongestTime.ns()));
  }
  return Duration::Nanoseconds(ns);
}

double FiniteNonnegative(double value, std::string_view path, const char* field) {
  if (!std::isfinite(value) || value < 0) Fail(path, field, value, "a finite number >= 0");
  return value;
}

Link ReadLink(FabricProto::LinkKind kind, int64_t latency_ns, double bytes_per_s,
              std::string_view path, const char* prefix) {
  const std::string name(prefix);
  Link link;
  link.latency = Time(latency_ns, path, (name + "_latency_ns").c_str());
  link.bandwidth =
      Bandwidth(FiniteNonnegative(bytes_per_s, path, (name + "_bandwidth_bytes_per_s").c_str()));
  const bool is_specified = kind != FabricProto::LINK_KIND_UNSPECIFIED;
  if (!FabricProto::LinkKind_IsValid(kind) || (!is_specified && bytes_per_s > 0)) {
    Fail(path, (name + "_kind").c_str(), static_cast<int>(kind), "a kind of link");
  }
  if (is_specified) link.kind = static_cast<LinkKind>(static_cast<int>(kind) - 1);
  return link;
}

double Rate(double value, std::string_view path, const char* field) {
  if (!(value > 0 && value <= 1)) Fail(path, field, value, "above 0, at most 1");
  return value;
}

Fabric FabricFromProto(const FabricProto& proto, std::string_view path) {
  Fabric fabric;
  fabric.ranks = static_cast<int>(AtLeast(1, proto.ranks(), path, "ranks"));
  if (proto.nodes() < 1 || proto.nodes() > proto.ranks()) {
    Fail(path, "nodes", proto.nodes(), fmt::format("1 to the {} ranks", proto.ranks()));
  }
  if (proto.ranks_per_node() < 1 || proto.ranks_per_node() > proto.ranks()) {
    Fail(path, "ranks_per_node", proto.ranks_per_node(),
         fmt::format("1 to the {} ranks", proto.ranks()));
  }
  fabric.nodes = proto.nodes();
  fabric.ranks_per_node = proto.ranks_per_node();
  fabric.intra = ReadLink(proto.intra_kind(), proto.intra_latency_ns(),
                          proto.intra_bandwidth_bytes_per_s(), path, "intra");
  fabric.inter = ReadLink(proto.inter_kind(), proto.inter_latency_ns(),
                          proto.inter_bandwidth_bytes_per_s(), path, "inter");
  if (!proto.inter_network().empty()) {
    const std::optional<NetworkKind> network = FindNetworkKind(proto.inter_network());
    if (!network) {
      Fail(path, "inter_network", "\"" + proto.inter_network() + "\"", "a kind of network");
    }
    fabric.inter.network = *network;
  }
  if (fabric.ranks > fabric.nodes && proto.intra_bandwidth_bytes_per_s() <= 0) {
    Fail(path, "intra_bandwidth_bytes_per_s", proto.intra_bandwidth_bytes_per_s(),
         "> 0 if ranks share a node");
  }
  if (fabric.nodes > 1 && proto.inter_bandwidth_bytes_per_s() <= 0) {
    Fail(path, "inter_bandwidth_bytes_per_s", proto.inter_bandwidth_bytes_per_s(),
         "> 0 if the group spans nodes");
  }
  fabric.nvls = proto.nvls();
  if (proto.has_intra_rate()) fabric.intra_rate = Rate(proto.intra_rate(), path, "intra_rate");
  if (proto.has_inter_rate()) fabric.inter_rate = Rate(proto.inter_rate(), path, "inter_rate");
  return fabric;
}

void WriteFabric(const Fabric& fabric, FabricProto* proto) {
  proto->set_ranks(fabric.ranks);
  proto->set_nodes(fabric.nodes);
  proto->set_ranks_per_node(fabric.ranks_per_node);
  proto->set_intra_kind(EnumToProto<FabricProto::LinkKind>(fabric.intra.kind));
  proto->set_intra_latency_ns(fabric.intra.latency.ns());
  proto->set_intra_bandwidth_bytes_per_s(fabric.intra.bandwidth.bytes_per_s());
  proto->set_inter_kind(EnumToProto<FabricProto::LinkKind>(fabric.inter.kind));
  proto->set_inter_latency_ns(fabric.inter.latency.ns());
  proto->set_inter_bandwidth_bytes_per_s(fabric.inter.bandwidth.bytes_per_s());
  proto->set_nvls(fabric.nvls);
  if (fabric.inter.network != NetworkKind::kUnstated) {
    proto->set_inter_network(Name(fabric.inter.network));
  }
  if (fabric.intra_rate != 1) proto->set_intra_rate(fabric.intra_rate);
  if (fabric.inter_rate != 1) proto->set_inter_rate(fabric.inter_rate);
}

int ReadCount(int64_t least, int64_t most, int64_t value, std::string_view path,
              const char* field) {
  if (value < least || value > most) Fail(path, field, value, fmt::format("{} to {}", least, most));
  return static_cast<int>(value);
}

// Reads a GradientSync; a field of one method must not be given for another.
GradientSync SyncFromProto(const GradientSyncProto& proto, const Op& op, std::string_view path) {
  const auto method = proto.method();
  if (!GradientSyncProto::Method_IsValid(method) ||
      (method > GradientSyncProto::ALL_REDUCE && op.kind != OpKind::kAllReduce)) {
    Fail(path, "method", static_cast<int>(method), "a synchronisation method, on an all-reduce");
  }
  GradientSync sync;
  if (method != GradientSyncProto::SYNC_METHOD_UNSPECIFIED) {
    sync.method = static_cast<SyncMethod>(static_cast<int>(method) - 1);
  }
  const int ranks = op.fabric.ranks;
  const bool has_servers = TakesServers(sync.method);
  const bool is_gossip = sync.method == SyncMethod::kGossip;
  const bool is_rolling = sync.method == SyncMethod::kRollingServer;
  constexpr int kMostServers = 1'000'000;
  const int least_servers = has_servers && sync.method != SyncMethod::kBytePs ? 1 : 0;
  const int most_servers = sync.method == SyncMethod::kBytePs ? ranks : kMostServers;
  sync.servers =
      ReadCount(least_servers, has_servers ? most_servers : 0, proto.servers(), path, "servers");
  sync.peers = ReadCount(is_gossip && ranks > 1, is_gossip ? std::max(0, ranks - 1) : 0,
                         proto.peers(), path, "peers");
  sync.serving = ReadCount(0, is_rolling ? ranks - 1 : 0, proto.serving(), path, "serving");
  sync.timeout = Time(proto.timeout_ns(), path, "timeout_ns");
  if (static_cast<double>(sync.timeout.ns()) > (is_rolling ? kMaxNanoseconds : 0)) {
    Fail(
        path, "timeout_ns", proto.timeout_ns(),
        is_rolling ? fmt::format("at most {:g}", kMaxNanoseconds) : "0 except for rolling servers");
  }
  sync.server = ReadLink(proto.server_kind(), proto.server_latency_ns(),
                         proto.server_bandwidth_bytes_per_s(), path, "server");
  sync.worker = ReadLink(proto.worker_kind(), proto.worker_latency_ns(),
                         proto.worker_bandwidth_bytes_per_s(), path, "worker");
  for (const auto& [link, field] : {std::pair(sync.server, "server_bandwidth_bytes_per_s"),
                                    std::pair(sync.worker, "worker_bandwidth_bytes_per_s")}) {
    const double rate = link.bandwidth.bytes_per_s();
    if (sync.servers > 0 && rate <= 0) Fail(path, field, rate, "> 0 if there are servers");
  }
  return sync;
}

void WriteSync(const GradientSync& sync, GradientSyncProto* proto) {
  proto->set_method(EnumToProto<GradientSyncProto::Method>(sync.method));
  proto->set_servers(sync.servers);
  proto->set_peers(sync.peers);
  proto->set_serving(sync.serving);
  proto->set_timeout_ns(sync.timeout.ns());
  proto->set_server_kind(EnumToProto<FabricProto::LinkKind>(sync.server.kind));
  proto->set_server_latency_ns(sync.server.latency.ns());
  proto->set_server_bandwidth_bytes_per_s(sync.server.bandwidth.bytes_per_s());
  proto->set_worker_kind(EnumToProto<FabricProto::LinkKind>(sync.worker.kind));
  proto->set_worker_latency_ns(sync.worker.latency.ns());
  proto->set_worker_bandwidth_bytes_per_s(sync.worker.bandwidth.bytes_per_s());
}

void ReadShape(const OpProto& proto, std::string_view path, Op& op) {
  op.batch = AtLeast(1, proto.has_batch() ? proto.batch() : 1, path, "batch");
  op.m = AtLeast(HasRows(op.kind) ? 1 : 0, proto.m(), path, "m");
  op.n = AtLeast(HasRows(op.kind) ? 1 : 0, proto.n(), path, "n");
  op.k = AtLeast(HasOperands(op.kind) ? 1 : 0, proto.k(), path, "k");
  if (Operands(op) > kMostOperands) {
    throw InputError(fmt::format("{}: got {} elements in its operands, want at most {}", path,
                                 Operands(op), kMostOperands));
  }
}

void ReadSparse(const OpProto& proto, std::string_view path, Op& op) {
  const bool is_sparse = op.kind == OpKind::kSparse;
  op.nonzeros = AtLeast(0, proto.nonzeros(), path, "nonzeros");
  const int64_t most = is_sparse ? op.k * op.n : 0;
  if (op.nonzeros > most) {
    Fail(path, "nonzeros", op.nonzeros,
         is_sparse ? fmt::format("at most k x n, {}", most) : "none but for SPARSE");
  }
  if (!OpProto::SparseProduct_IsValid(proto.product()) || (proto.product() != 0 && !is_sparse)) {
    Fail(path, "product", static_cast<int>(proto.product()),
         "FASTER, FROM_ENTRIES or EXPANDED, for SPARSE only");
  }
  op.product = static_cast<SparseProduct>(proto.product());
}

int ReadAlignment(const OpProto& proto, const Op& op, std::string_view path) {
  if (!proto.has_alignment()) return kAlignedBytes;
  const int bytes = proto.alignment();
  if (!CanBeAligned(op.kind, bytes)) {
    Fail(path, "alignment", bytes, "1, 2, 4, 8 or 16, below 16 for a GEMM only");
  }
  return bytes;
}

}  // namespace

Op OpFromProto(const OpProto& proto, std::string_view path) {
  Op op;
  if (!OpProto::Kind_IsValid(proto.kind())) {
    Fail(path, "kind", static_cast<int>(proto.kind()), "a kind of op");
  }
  op.kind = static_cast<OpKind>(proto.kind());
  const bool has_dtype = proto.dtype() != OpProto::DTYPE_UNSPECIFIED;
  if (!OpProto::DType_IsValid(proto.dtype()) || (HasRows(op.kind) && !has_dtype)) {
    Fail(path, "dtype", static_cast<int>(proto.dtype()), "a number format");
  }
  if (has_dtype) op.dtype = static_cast<DType>(static_cast<int>(proto.dtype()) - 1);
  if (!OpProto::Direction_IsValid(proto.direction())) {
    Fail(path, "direction", static_cast<int>(proto.direction()), "FORWARD or BACKWARD");
  }
  op.direction = static_cast<Direction>(proto.direction());
  op.causal = proto.causal();
  ReadShape(proto, path, op);
  op.sequences = AtLeast(1, proto.has_sequences() ? proto.sequences() : 1, path, "sequences");
  op.kv_batch = AtLeast(0, proto.kv_batch(), path, "kv_batch");
  if (op.kv_batch > op.batch) {
    Fail(path, "kv_batch", op.kv_batch, fmt::format("at most the batch, {}", op.batch));
  }
  if (!OpProto::AttentionUse_IsValid(proto.use())) {
    Fail(path, "use", static_cast<int>(proto.use()), "TRAINING or SERVING");
  }
  op.use = static_cast<AttentionUse>(proto.use());
  if (!OpProto::AttentionKernel_IsValid(proto.attention_kernel())) {
    Fail(path, "attention_kernel", static_cast<int>(proto.attention_kernel()),
         "USUAL, FLASH, FUSED, TRITON, FLASH1, FLASH2, FLASH3 or CUDNN");
  }
  op.attention_kernel = static_cast<AttentionKernel>(proto.attention_kernel());
  op.converts_keys = proto.converts_keys();
  op.alignment = ReadAlignment(proto, op, path);
  ReadSparse(proto, path, op);
  op.bytes = Bytes(AtLeast(0, proto.bytes(), path, "bytes"));
  op.profiled = Time(proto.profiled_ns(), path, "profiled_ns");
  const double in_all = static_cast<double>(op.m) * static_cast<double>(op.profiled.ns());
  if (in_all > kMaxNanoseconds) {
    Fail(path, "profiled_ns", in_all, fmt::format("at most {:g} in all", kMaxNanoseconds));
  }
  op.kernels = static_cast<int>(
      AtLeast(FewestKernels(op.kind), proto.has_kernels() ? proto.kernels() : 1, path, "kernels"));
  if (proto.has_fabric()) {
    op.fabric = FabricFromProto(proto.fabric(), fmt::format("{}.fabric", path));
  } else if (IsCollective(op.kind)) {
    Fail(path, "fabric", "nothing", "the links between the ranks of the group");
  }
  if (proto.has_sync()) op.sync = SyncFromProto(proto.sync(), op, fmt::format("{}.sync", path));
  return op;
}

OpProto ToProto(const Op& op) {
  OpProto proto;
  proto.set_kind(static_cast<OpProto::Kind>(op.kind));
  proto.set_dtype(EnumToProto<OpProto::DType>(op.dtype));
  proto.set_direction(static_cast<OpProto::Direction>(op.direction));
  proto.set_causal(op.causal);
  if (op.kind == OpKind::kAttention) {
    proto.set_sequences(op.sequences);
    proto.set_kv_batch(op.kv_batch);
    proto.set_use(static_cast<OpProto::AttentionUse>(op.use));
    proto.set_attention_kernel(static_cast<OpProto::AttentionKernel>(op.attention_kernel));
    proto.set_converts_keys(op.converts_keys);
  }
  if (op.kind == OpKind::kSparse) {
    proto.set_nonzeros(op.nonzeros);
    proto.set_product(static_cast<OpProto::SparseProduct>(op.product));
  }
  proto.set_batch(op.batch);
  proto.set_m(op.m);
  proto.set_n(op.n);
  proto.set_k(op.k);
  if (op.alignment != kAlignedBytes) proto.set_alignment(op.alignment);
  proto.set_bytes(op.bytes.count());
  proto.set_kernels(op.kernels);
  if (op.kind == OpKind::kProfiled) proto.set_profiled_ns(op.profiled.ns());
  if (IsCollective(op.kind) || op.fabric != Fabric()) {
    WriteFabric(op.fabric, proto.mutable_fabric());
  }
  if (op.sync != GradientSync()) WriteSync(op.sync, proto.mutable_sync());
  return proto;
}

}  // namespace stagecraft
