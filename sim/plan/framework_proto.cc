#include "sim/plan/framework_proto.h"

#include <fmt/core.h>

#include <cmath>

#include "costmodel/check.h"
#include "costmodel/enum_to_proto.h"

namespace stagecraft {
namespace {

constexpr double kMostTraffic = 100;

// The enums have the same values in the same order, numbered from one; zero means the first.
template <typename Enum>
Enum Choice(int value, int most, const char* field, const std::string& place) {
  if (value >= 0 && value <= most) return static_cast<Enum>(value == 0 ? 0 : value - 1);
  throw InputError(fmt::format("{}.{}: got {}, want 0 to {}", place, field, value, most));
}

}  // namespace

Framework FrameworkFromProto(const FrameworkProto& proto, const std::string& place) {
  Framework framework;
  if (proto.has_elementwise_traffic()) {
    const double traffic = proto.elementwise_traffic();
    if (!(traffic >= 1 && traffic <= kMostTraffic)) {
      throw InputError(fmt::format("{}.elementwise_traffic: got {}, want 1 to {}", place, traffic,
                                   kMostTraffic));
    }
    framework.elementwise_traffic = traffic;
  }
  framework.backward_prefetch =
      Choice<BackwardPrefetch>(proto.backward_prefetch(), 2, "backward_prefetch", place);
  framework.parameter_exchange =
      Choice<ParameterExchange>(proto.parameter_exchange(), 2, "parameter_exchange", place);
  framework.adds_gradients_apart = proto.adds_gradients_apart();
  return framework;
}

FrameworkProto FrameworkToProto(const Framework& framework) {
  FrameworkProto proto;
  proto.set_elementwise_traffic(framework.elementwise_traffic);
  proto.set_backward_prefetch(
      EnumToProto<FrameworkProto::BackwardPrefetch>(framework.backward_prefetch));
  proto.set_parameter_exchange(
      EnumToProto<FrameworkProto::ParameterExchange>(framework.parameter_exchange));
  proto.set_adds_gradients_apart(framework.adds_gradients_apart);
  return proto;
}

}  // namespace stagecraft
