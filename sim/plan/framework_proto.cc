#include "sim/plan/framework_proto.h"

#include <fmt/core.h>

#include "costmodel/enum_to_proto.h"

namespace stagecraft {

Framework FrameworkFromProto(const FrameworkProto& proto, const PlanPlace& place) {
  Framework framework;
  if (proto.has_elementwise_traffic()) {
    const double traffic = proto.elementwise_traffic();
    if (!(traffic >= 1 && traffic <= kMostElementwiseTraffic)) {
      place.Fail("elementwise_traffic",
                 fmt::format("got {}, want 1 to {}", traffic, kMostElementwiseTraffic));
    }
    framework.elementwise_traffic = traffic;
  }
  framework.composes_operators = proto.composes_operators();
  framework.backward_prefetch = EnumFromProto(proto.backward_prefetch(), BackwardPrefetch::kBefore,
                                              "backward_prefetch", place);
  framework.parameter_gather =
      EnumFromProto(proto.parameter_gather(), ParameterGather::kLayers, "parameter_gather", place);
  framework.parameter_exchange = EnumFromProto(
      proto.parameter_exchange(), ParameterExchange::kGather, "parameter_exchange", place);
  framework.shard_copies =
      EnumFromProto(proto.shard_copies(), ShardCopies::kNone, "shard_copies", place);
  framework.updates_by_operations = proto.updates_by_operations();
  framework.autocasts = proto.autocasts();
  framework.adds_gradients_apart = proto.adds_gradients_apart();
  framework.scatters_messages = proto.scatters_messages();
  framework.sums_gradients = !proto.overwrites_gradients();
  framework.hides_exchanges = !proto.exposes_exchanges();
  framework.multiplies_experts_apart = proto.multiplies_experts_apart();
  framework.exposes_tensor_gradients = proto.exposes_tensor_gradients();
  return framework;
}

FrameworkProto FrameworkToProto(const Framework& framework) {
  FrameworkProto proto;
  proto.set_elementwise_traffic(framework.elementwise_traffic);
  proto.set_composes_operators(framework.composes_operators);
  proto.set_backward_prefetch(
      EnumToProto<FrameworkProto::BackwardPrefetch>(framework.backward_prefetch));
  proto.set_parameter_gather(
      EnumToProto<FrameworkProto::ParameterGather>(framework.parameter_gather));
  proto.set_parameter_exchange(
      EnumToProto<FrameworkProto::ParameterExchange>(framework.parameter_exchange));
  proto.set_shard_copies(EnumToProto<FrameworkProto::ShardCopies>(framework.shard_copies));
  proto.set_updates_by_operations(framework.updates_by_operations);
  proto.set_autocasts(framework.autocasts);
  proto.set_adds_gradients_apart(framework.adds_gradients_apart);
  proto.set_scatters_messages(framework.scatters_messages);
  proto.set_overwrites_gradients(!framework.sums_gradients);
  proto.set_exposes_exchanges(!framework.hides_exchanges);
  proto.set_multiplies_experts_apart(framework.multiplies_experts_apart);
  proto.set_exposes_tensor_gradients(framework.exposes_tensor_gradients);
  return proto;
}

}  // namespace stagecraft
