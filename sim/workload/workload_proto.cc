#include "sim/workload/workload_proto.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "sim/workload/layer_state.h"
#include "sim/workload/limits.h"

namespace stagecraft {
namespace {

// Sums over layers, and their multiples by token counts, stay within 64 bits.
constexpr int64_t kMaxFeatures = 1'000'000'000'000;
constexpr int64_t kMaxParameters = 1'000'000'000'000'000;
constexpr int64_t kMaxNanoseconds = 3'600'000'000'000;  // of one row: an hour
constexpr int64_t kMaxInt = std::numeric_limits<int>::max();

// A place in the file, for errors about it.
class Place {
 public:
  explicit Place(std::string path) : path_(std::move(path)) {}

  [[noreturn]] void Fail(const std::string& field, const std::string& got,
                         const std::string& wanted) const {
    throw InputError(path_ + ": " + field + ": got " + got + ", want " + wanted);
  }
  void Range(const char* field, int64_t value, int64_t low, int64_t high) const {
    if (value >= low && value <= high) return;
    Fail(prefix_ + field, std::to_string(value),
         std::to_string(low) + " to " + std::to_string(high));
  }
  void Want(bool good, const char* field, const std::string& got, const std::string& wanted) const {
    if (!good) Fail(prefix_ + field, got, wanted);
  }
  // A message inside this one: "kinds[1].operators[3].".
  Place Inside(const char* field, int index) const {
    Place inside(path_);
    inside.prefix_ = prefix_ + field + "[" + std::to_string(index) + "].";
    return inside;
  }

 private:
  std::string path_;
  std::string prefix_;
};

std::string Quoted(const std::string& text) { return "'" + text + "'"; }

// Protos number these enums from one, in the same order; zero is "unspecified".
// The first `count` named values are allowed.
template <typename Enum, typename ProtoEnum>
Enum EnumFromProto(ProtoEnum value, int count, const char* field, const Place& place) {
  const auto* names = google::protobuf::GetEnumDescriptor<ProtoEnum>();
  std::string wanted;
  for (int i = 1; i <= count; ++i) {
    wanted += (i == 1 ? "" : i == count ? " or " : ", ") + names->FindValueByNumber(i)->name();
  }
  const auto* given = names->FindValueByNumber(value);
  place.Want(value >= 1 && value <= count, field,
             given == nullptr ? std::to_string(value) : given->name(), wanted);
  return static_cast<Enum>(value - 1);
}
SavedTensor SavedFromProto(const SavedTensorProto& proto, const Place& place) {
  place.Want(!proto.name().empty(), "name", "nothing", "a name");
  place.Range("features", proto.features(), 1, kMaxFeatures);
  const int bytes = proto.bytes_per_element();
  place.Want(bytes == 0 || bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8,
             "bytes_per_element", std::to_string(bytes), "0, 1, 2, 4 or 8");
  const Split split = EnumFromProto<Split>(proto.split(), 2, "split", place);
  return {proto.name(), proto.features(), bytes, split, proto.per_key(), proto.only_for_weights()};
}

void CheckHeads(const OperatorProto& proto, const Place& place) {
  const bool attends = proto.kind() == OperatorProto::ATTENTION;
  const int64_t low = attends ? 1 : 0;
  const int64_t high = attends ? kMaxInt : 0;
  place.Range("heads", proto.heads(), low, high);
  place.Range("kv_heads", proto.kv_heads(), low, high);
  place.Range("head_size", proto.head_size(), low, high);
  place.Want(attends || !proto.causal(), "causal", "true", "false if nothing attends");
  place.Want(!attends || proto.heads() % proto.kv_heads() == 0, "kv_heads",
             std::to_string(proto.kv_heads()),
             "a divisor of the " + std::to_string(proto.heads()) + " heads");
}

void ReadShape(const OperatorProto& proto, const Place& place, Operator& op) {
  place.Range("positions", proto.positions(), 0, kMaxFeatures);
  place.Range("keys", proto.keys(), 0, kMaxFeatures);
  place.Range("groups", proto.groups(), 0, kMaxInt);
  place.Range("input_elements", proto.input_elements(), 0, kMaxParameters);
  place.Range("experts", proto.experts(), 0, kMaxInt);
  place.Range("experts_per_token", proto.experts_per_token(), 0, proto.experts());
  op.positions = proto.positions();
  op.keys = proto.keys();
  op.groups = proto.groups() == 0 ? 1 : proto.groups();
  op.input_elements = proto.input_elements();
  op.experts = proto.experts();
  op.experts_per_token = proto.experts_per_token();
  const int32_t groups = proto.expert_groups();
  place.Range("expert_groups", groups, 0, std::max(1, proto.experts()));
  place.Want(groups == 0 || proto.experts() % groups == 0, "expert_groups", std::to_string(groups),
             "a divisor of the " + std::to_string(proto.experts()) + " experts");
  place.Range("groups_per_token", proto.groups_per_token(), groups == 0 ? 0 : 1, groups);
  if (groups > 0) {
    op.expert_groups = groups;
    op.groups_per_token = proto.groups_per_token();
    const int64_t offered = int64_t{op.experts} / groups * op.groups_per_token;
    place.Want(op.experts_per_token <= offered, "experts_per_token",
               std::to_string(op.experts_per_token),
               "at most the " + std::to_string(offered) + " experts of groups_per_token groups");
  }
  op.part = static_cast<BlockPart>(proto.part());
  place.Want(OperatorProto::Part_IsValid(proto.part()), "part", std::to_string(proto.part()),
             "a known part");
  op.chain = static_cast<KernelChain>(proto.chain());
  place.Want(OperatorProto::Chain_IsValid(proto.chain()), "chain", std::to_string(proto.chain()),
             "a known chain");
  const bool is_between = op.kind == OperatorKind::kNorm || op.kind == OperatorKind::kElementwise;
  place.Want(op.chain == KernelChain::kNone || is_between, "chain", std::to_string(proto.chain()),
             "none, since the operator is neither a norm nor elementwise");
}

Operator OperatorFromProto(const OperatorProto& proto, const Place& place) {
  Operator op{.name = proto.name()};
  place.Want(!op.name.empty(), "name", "nothing", "a name");
  op.kind = EnumFromProto<OperatorKind>(proto.kind(), 11, "kind", place);
  op.split = EnumFromProto<Split>(proto.split(), 3, "split", place);
  const bool multiplies = op.kind == OperatorKind::kLinear || op.kind == OperatorKind::kAttention ||
                          op.kind == OperatorKind::kConvolution ||
                          op.kind == OperatorKind::kRecurrent;
  place.Range("in_features", proto.in_features(), multiplies ? 1 : 0, kMaxFeatures);
  place.Range("out_features", proto.out_features(), multiplies ? 1 : 0, kMaxFeatures);
  if (multiplies && proto.in_features() > kMaxParameters / proto.out_features()) {
    place.Fail("out_features", std::to_string(proto.out_features()),
               "at most " + std::to_string(kMaxParameters / proto.in_features()) + " with " +
                   std::to_string(proto.in_features()) + " in_features");
  }
  CheckHeads(proto, place);
  place.Range("parameters", proto.parameters(), 0, kMaxParameters);
  const int64_t most_elements = multiplies ? 0 : kMaxFeatures;
  place.Range("forward_elements", proto.forward_elements(), 0, most_elements);
  place.Range("backward_elements", proto.backward_elements(), 0, most_elements);
  place.Range("kernels", proto.kernels(), 1, kMaxInt);
  op.in_features = proto.in_features();
  op.out_features = proto.out_features();
  op.heads = proto.heads();
  op.kv_heads = proto.kv_heads();
  op.head_size = proto.head_size();
  op.causal = proto.causal();
  op.parameters = proto.parameters();
  op.reads_layer_input = proto.reads_layer_input();
  op.forward_elements = proto.forward_elements();
  op.backward_elements = proto.backward_elements();
  op.kernels = proto.kernels();
  const int64_t most_time = op.kind == OperatorKind::kProfiled ? kMaxNanoseconds : 0;
  place.Range("forward_time_ns", proto.forward_time_ns(), 0, most_time);
  place.Range("backward_time_ns", proto.backward_time_ns(), 0, most_time);
  op.forward_time = Duration::Nanoseconds(proto.forward_time_ns());
  op.backward_time = Duration::Nanoseconds(proto.backward_time_ns());
  ReadShape(proto, place, op);
  for (int i = 0; i < proto.saved_size(); ++i) {
    op.saved.push_back(SavedFromProto(proto.saved(i), place.Inside("saved", i)));
  }
  return op;
}

void AddEdges(const LayerKindProto& proto, const Place& place, OperatorGraph& graph) {
  std::set<std::pair<int, int>> seen;
  const int last = proto.operators_size() - 1;
  for (int i = 0; i < proto.edges_size(); ++i) {
    const OperatorEdgeProto& edge = proto.edges(i);
    const Place here = place.Inside("edges", i);
    here.Range("producer", edge.producer(), 0, last);
    here.Range("consumer", edge.consumer(), 0, last);
    // Consumers come later, so no cycle can be written.
    here.Want(edge.consumer() > edge.producer(), "consumer", std::to_string(edge.consumer()),
              "more than the producer, " + std::to_string(edge.producer()));
    here.Want(seen.insert({edge.producer(), edge.consumer()}).second, "consumer",
              std::to_string(edge.consumer()), "an edge that is not repeated");
    graph.AddEdge(static_cast<size_t>(edge.producer()), static_cast<size_t>(edge.consumer()));
  }
}

LayerKind KindFromProto(const LayerKindProto& proto, const Place& place) {
  LayerKind kind;
  kind.name = proto.name();
  place.Want(!kind.name.empty(), "name", "nothing", "a name");
  kind.role = EnumFromProto<LayerRole>(proto.role(), 3, "role", place);
  place.Want(proto.operators_size() > 0, "operators", "none", "at least one");
  std::set<std::string> names;
  int64_t parameters = 0;
  for (int i = 0; i < proto.operators_size(); ++i) {
    const Place here = place.Inside("operators", i);
    Operator op = OperatorFromProto(proto.operators(i), here);
    here.Want(names.insert(op.name).second, "name", Quoted(op.name), "a name used once");
    parameters += op.parameters;
    here.Range("parameters", parameters, 0, kMaxParameters);
    kind.operators.Add(std::move(op));
  }
  AddEdges(proto, place, kind.operators);
  place.Range("boundary_features", proto.boundary_features(), 0, kMaxFeatures);
  place.Range("tied_parameters", proto.tied_parameters(), 0, parameters);
  kind.boundary_features = proto.boundary_features();
  kind.tied_parameters = proto.tied_parameters();
  place.Range("boundary_positions", proto.boundary_positions(), 0, kMaxFeatures);
  kind.boundary_positions = proto.boundary_positions();
  kind.is_frozen = proto.frozen();
  return kind;
}

void ReadLayers(const WorkloadProto& proto, const Place& place, Workload& workload) {
  place.Want(proto.kinds_size() > 0, "kinds", "none", "at least one");
  std::set<std::string> names;
  for (int i = 0; i < proto.kinds_size(); ++i) {
    const Place here = place.Inside("kinds", i);
    workload.kinds.push_back(KindFromProto(proto.kinds(i), here));
    const std::string& name = workload.kinds.back().name;
    here.Want(names.insert(name).second, "name", Quoted(name), "a name used once");
  }
  place.Want(proto.layers_size() >= 1 && proto.layers_size() <= kMostLayers, "layers",
             std::to_string(proto.layers_size()) + " layers",
             "1 to " + std::to_string(kMostLayers));
  int64_t parameters = 0;
  for (const int layer : proto.layers()) {
    place.Range("layers", layer, 0, proto.kinds_size() - 1);
    parameters += workload.kinds[static_cast<size_t>(layer)].Parameters();
    place.Want(parameters <= kMaxParameters, "layers", "more than 10^15 parameters", "fewer");
    workload.layers.push_back(layer);
  }
}

bool HasConvolutions(const Workload& workload) {
  return std::any_of(workload.kinds.begin(), workload.kinds.end(), [](const LayerKind& kind) {
    return std::any_of(kind.operators.begin(), kind.operators.end(),
                       [](const Operator& op) { return op.kind == OperatorKind::kConvolution; });
  });
}

}  // namespace

Workload WorkloadFromProto(const WorkloadProto& proto, std::string_view path) {
  const Place place{std::string(path)};
  Workload workload;
  workload.name = proto.name();
  place.Want(!workload.name.empty(), "name", "nothing", "a name");
  ReadLayers(proto, place, workload);
  place.Range("hidden", proto.hidden(), 1, kMaxFeatures);
  place.Range("vocabulary", proto.vocabulary(), 0, kMaxFeatures);
  place.Range("heads", proto.heads(), 1, kMaxInt);
  place.Range("kv_heads", proto.kv_heads(), 1, kMaxInt);
  place.Want(proto.heads() % proto.kv_heads() == 0, "kv_heads", std::to_string(proto.kv_heads()),
             "a divisor of the " + std::to_string(proto.heads()) + " heads");
  place.Range("max_sequence", proto.max_sequence(), 1, kMaxFeatures);
  workload.hidden = proto.hidden();
  workload.vocabulary = proto.vocabulary();
  workload.heads = proto.heads();
  workload.kv_heads = proto.kv_heads();
  workload.max_sequence = proto.max_sequence();
  workload.tied_embeddings = proto.tied_embeddings();
  workload.attention = EnumFromProto<AttentionBackend>(proto.attention(), 2, "attention", place);
  workload.lists_kernels =
      proto.has_lists_kernels() ? proto.lists_kernels() : HasConvolutions(workload);
  FreezeLayers(std::string(path) + ": kinds.frozen", std::vector<bool>(workload.layers.size()),
               workload);
  return workload;
}

}  // namespace stagecraft
