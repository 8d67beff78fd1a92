// CurveFeatures: what tells one curve of time over size from another, and how
// alike two of them are.
#pragma once

#include <optional>
#include <string>

#include "costmodel/collective_model.h"
#include "costmodel/network/network_sample.h"

namespace stagecraft {

// What joins the nodes: nothing, a network with the latency of RDMA or a slower
// one, or one that nobody states.
enum class NetworkClass { kNone, kRdma, kEthernet, kUnstated };

struct CurveFeatures {
  std::string site;  // empty: nowhere that was measured
  Timing timing = Timing::kCollective;
  OpKind kind = OpKind::kAllReduce;
  std::optional<Algorithm> forced;
  Generation generation = Generation::kHopper;
  LinkKind intra = LinkKind::kNvlink;
  NetworkClass network = NetworkClass::kNone;
  int nodes = 1;
  int ranks_per_node = 1;
  int sharing = 1;
  int groups = 1;
  int stride = 1;
  auto operator<=>(const CurveFeatures&) const = default;
};

// Of an op that nobody measured; `device` gives the generation.
CurveFeatures FeaturesOf(const Op& op, const Device& device);
CurveFeatures FeaturesOf(const NetworkSample& sample, Generation generation);

// Times have two ends: latency, which is the software's and the host's, and
// bandwidth, which is the links'.
enum class Regime { kLatency, kBandwidth };

// Correlation of the logarithms of measured / formula of two curves, 1 where they
// are the same, in one regime:
//   0.86 exp(-d) + 0.14 exp(-d / 8.6)
// d is the sum of what differs (curve_features.cc), 0 correlation where kinds of
// links or classes of networks do, and of the bandwidth inside a node with that of
// ranks each alone on theirs. Its lengths were chosen by random search with
// the errors of the splits of README.md in view.
double Correlation(const CurveFeatures& a, const CurveFeatures& b, Regime regime);

// The same without regard to where the curves were measured.
double Likeness(const CurveFeatures& a, const CurveFeatures& b);

}  // namespace stagecraft
