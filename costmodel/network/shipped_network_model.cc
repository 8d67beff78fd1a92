#include <string_view>

#include "costmodel/check.h"
#include "costmodel/network/network_model.h"
#include "data/embedded.h"
#include "proto/network.pb.h"

// What write_factors made of the model, which the target network_factors of BUILD links in.
extern "C" {
extern const char stagecraft_network_factors_begin[];
extern const char stagecraft_network_factors_end[];
}

namespace stagecraft {

const NetworkModel& NetworkModel::Shipped() {
  static const NetworkModel model = [] {
    NetworkModelProto proto;
    const std::string_view bytes = EmbeddedNetworkModel();
    CHECK(proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    const std::string_view factors(
        stagecraft_network_factors_begin,
        static_cast<size_t>(stagecraft_network_factors_end - stagecraft_network_factors_begin));
    return FromProto(proto, "cost_models/collectives.pb", factors);
  }();
  return model;
}

}  // namespace stagecraft
