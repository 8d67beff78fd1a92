#include "sim/workload/workload_to_proto.h"

#include "costmodel/enum_to_proto.h"

namespace stagecraft {
namespace {

void OperatorsToProto(const OperatorGraph& graph, LayerKindProto* kind) {
  for (const Operator& op : graph) {
    OperatorProto* proto = kind->add_operators();
    proto->set_name(op.name);
    proto->set_kind(EnumToProto<OperatorProto::Kind>(op.kind));
    proto->set_split(EnumToProto<OperatorProto::Split>(op.split));
    proto->set_in_features(op.in_features);
    proto->set_out_features(op.out_features);
    proto->set_heads(op.heads);
    proto->set_kv_heads(op.kv_heads);
    proto->set_head_size(op.head_size);
    proto->set_causal(op.causal);
    proto->set_parameters(op.parameters);
    proto->set_reads_layer_input(op.reads_layer_input);
    proto->set_forward_elements(op.forward_elements);
    proto->set_positions(op.positions);
    proto->set_keys(op.keys);
    proto->set_groups(op.groups == 1 ? 0 : op.groups);
    proto->set_input_elements(op.input_elements);
    proto->set_experts(op.experts);
    proto->set_experts_per_token(op.experts_per_token);
    proto->set_expert_groups(op.expert_groups == 1 ? 0 : op.expert_groups);
    proto->set_groups_per_token(op.expert_groups == 1 ? 0 : op.groups_per_token);
    proto->set_part(static_cast<OperatorProto::Part>(op.part));
    proto->set_chain(static_cast<OperatorProto::Chain>(op.chain));
    proto->set_backward_elements(op.backward_elements);
    proto->set_kernels(op.kernels);
    proto->set_forward_time_ns(op.forward_time.ns());
    proto->set_backward_time_ns(op.backward_time.ns());
    for (const SavedTensor& tensor : op.saved) {
      SavedTensorProto* saved = proto->add_saved();
      saved->set_name(tensor.name);
      saved->set_features(tensor.features);
      saved->set_bytes_per_element(tensor.bytes_per_element);
      saved->set_split(EnumToProto<OperatorProto::Split>(tensor.split));
      saved->set_per_key(tensor.per_key);
      saved->set_only_for_weights(tensor.only_for_weights);
    }
  }
}

}  // namespace

WorkloadProto WorkloadToProto(const Workload& workload) {
  WorkloadProto proto;
  proto.set_name(workload.name);
  for (const LayerKind& kind : workload.kinds) {
    LayerKindProto* kind_proto = proto.add_kinds();
    kind_proto->set_name(kind.name);
    kind_proto->set_role(EnumToProto<LayerKindProto::Role>(kind.role));
    OperatorsToProto(kind.operators, kind_proto);
    for (size_t producer = 0; producer < kind.operators.size(); ++producer) {
      for (const size_t consumer : kind.operators.consumers(producer)) {
        OperatorEdgeProto* edge = kind_proto->add_edges();
        edge->set_producer(static_cast<int>(producer));
        edge->set_consumer(static_cast<int>(consumer));
      }
    }
    kind_proto->set_boundary_features(kind.boundary_features);
    kind_proto->set_tied_parameters(kind.tied_parameters);
    kind_proto->set_boundary_positions(kind.boundary_positions);
    kind_proto->set_frozen(kind.is_frozen);
  }
  for (const int layer : workload.layers) proto.add_layers(layer);
  proto.set_hidden(workload.hidden);
  proto.set_vocabulary(workload.vocabulary);
  proto.set_heads(workload.heads);
  proto.set_kv_heads(workload.kv_heads);
  proto.set_max_sequence(workload.max_sequence);
  proto.set_tied_embeddings(workload.tied_embeddings);
  proto.set_attention(EnumToProto<WorkloadProto::AttentionBackend>(workload.attention));
  proto.set_lists_kernels(workload.lists_kernels);
  return proto;
}

}  // namespace stagecraft
