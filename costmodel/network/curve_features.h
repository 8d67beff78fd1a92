// CurveFeatures: what distinguishes one curve of time over size from another, and how similar two
// of them are.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "costmodel/collective_model.h"
#include "costmodel/network/network_sample.h"

namespace stagecraft {

struct CurveFeatures {
  std::string site;  // empty: on no measured site
  Timing timing = Timing::kCollective;
  OpKind kind = OpKind::kAllReduce;
  std::optional<Algorithm> forced;
  Generation generation = Generation::kHopper;
  LinkKind intra = LinkKind::kNvlink;
  // Between the nodes; nothing on one node. kUnstated: no source says what it was.
  std::optional<NetworkKind> network;
  int nodes = 1;
  int ranks_per_node = 1;
  int sharing = 1;
  int groups = 1;
  int stride = 1;
  auto operator<=>(const CurveFeatures&) const = default;
};

// Returns the features of an op that was not measured; `device` gives the generation. A network of
// no stated kind is taken for the one that its latency suggests.
CurveFeatures FeaturesOf(const Op& op, const Device& device);
CurveFeatures FeaturesOf(const NetworkSample& sample, Generation generation);

// The two ends of a curve: latency, which depends on software and host, and bandwidth, which
// depends on the links.
enum class Regime { kLatency, kBandwidth };
inline constexpr std::array kRegimes = {Regime::kLatency, Regime::kBandwidth};

// Returns by regime the correlation of the logarithms of measured / formula of two curves, which is
// 1 if the curves are the same:
//
//   0.86 exp(-d) + 0.14 exp(-d / 8.6)
//
// d is the sum of the differences (curve_features.cc). The correlation is 0 if the kinds of links
// or the classes of networks differ, and between the bandwidth inside a node and that of ranks that
// are each alone on their node. The lengths were chosen by random search with the errors of the
// splits in docs/cost-model.md in view.
std::array<double, kRegimes.size()> Correlations(const CurveFeatures& a, const CurveFeatures& b);

// Returns how similar two curves are, from 0 to 1, wherever they were measured. Curves that were
// timed in different ways are less similar.
double Likeness(const CurveFeatures& a, const CurveFeatures& b);

}  // namespace stagecraft
