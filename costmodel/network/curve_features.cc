#include "costmodel/network/curve_features.h"

#include <algorithm>
#include <cmath>

#include "costmodel/collectives.h"

namespace stagecraft {
namespace {

// Ranges of the correlation and distances between curves, in units of the short range.
constexpr double kLongRange = 8.6;
constexpr double kLongShare = 0.14;
constexpr double kSiteLatency = 2.2;
constexpr double kSiteBandwidth = 0.56;
// Routes through host memory are alike on all sites.
constexpr double kSiteThroughHost = 0.05;
constexpr double kOp = 1.1;
constexpr double kGatherToScatter = 0.45;  // all-gathers run like reduce-scatters
constexpr double kOpAcrossNodes = 3.3;
// A single message and a collective have only a narrow link in common. The value must not be less:
// a curve that is like each of four collectives, which are less like each other, makes the matrix
// of correlations indefinite, and weights grow without bound (a test checks the eigenvalues).
constexpr double kMessageOnNarrowLink = 0.15;
constexpr double kForced = 0.44;
constexpr double kForcedToItsOwnChoice = 0.07;
constexpr double kGeneration = 7.8;
constexpr double kLeavesNode = 3.7;
constexpr double kNetworkKind = 0.6;    // RDMA of another kind, or sockets over another network
constexpr double kDoubling = 0.13;      // of the ranks of a node
constexpr double kDoublingNodes = 0.1;  // up to kMostNodes; beyond, efficiency does not change
constexpr double kMostNodes = 8;
constexpr double kDoublingSharing = 0.07;
constexpr double kDoublingGroups = 0.02;
constexpr double kDoublingStride = 0.02;
// Added in Likeness() between times of a framework's calls and times of collectives alone: other
// collectives that are timed alike say more.
constexpr double kFrameworkTiming = 3;

double Doublings(double a, double b) { return a == b ? 0 : std::abs(std::log2(a / b)); }

bool IsMessage(const CurveFeatures& curve) { return CollectiveOf(curve.kind).IsMessage(); }

bool IsOneNode(const CurveFeatures& curve) { return !curve.network; }

// Whether the links inside nodes are used: a rank alone on its node never uses them.
bool UsesInside(const CurveFeatures& curve) { return IsOneNode(curve) || curve.ranks_per_node > 1; }

// Whether the curves have nothing in common.
bool IsUnrelated(const CurveFeatures& a, const CurveFeatures& b) {
  if (a.intra != b.intra) return true;
  const bool narrow = !IsOneNode(a) || a.intra == LinkKind::kHost;
  const bool both_cross = IsOneNode(a) == IsOneNode(b);
  if (IsMessage(a) != IsMessage(b) && !(narrow && both_cross)) return true;
  if (IsOneNode(a) || IsOneNode(b)) return false;
  const bool is_unstated =
      a.network == NetworkKind::kUnstated || b.network == NetworkKind::kUnstated;
  if (is_unstated) return a.network != b.network || a.site != b.site;
  return HasRdma(*a.network) != HasRdma(*b.network);
}

double OpDistance(const CurveFeatures& a, const CurveFeatures& b) {
  if (a.kind == b.kind) return 0;
  if (IsMessage(a) || IsMessage(b)) return kMessageOnNarrowLink;
  const auto scatters = [](OpKind kind) {
    const Collective& collective = CollectiveOf(kind);
    return collective.passes == Passes::kPartsOnce && !collective.IsDirect();
  };
  const bool cross = !IsOneNode(a) && !IsOneNode(b);
  const double op = cross ? kOpAcrossNodes : kOp;
  return scatters(a.kind) && scatters(b.kind) ? kGatherToScatter / kOp * op : op;
}

double ForcedDistance(const CurveFeatures& a, const CurveFeatures& b) {
  if (a.forced == b.forced) return 0;
  const bool tree = a.forced == Algorithm::kTree || b.forced == Algorithm::kTree;
  return tree ? kForced : kForcedToItsOwnChoice;
}

double ShapeDistance(const CurveFeatures& a, const CurveFeatures& b) {
  double distance = OpDistance(a, b) + ForcedDistance(a, b);
  if (a.generation != b.generation) distance += kGeneration;
  if ((a.nodes > 1) != (b.nodes > 1)) distance += kLeavesNode;
  if (a.network && b.network && a.network != b.network) distance += kNetworkKind;
  distance += kDoubling * Doublings(a.ranks_per_node, b.ranks_per_node);
  distance += kDoublingNodes * Doublings(std::min<double>(a.nodes, kMostNodes),
                                         std::min<double>(b.nodes, kMostNodes));
  if (a.nodes > 1 && b.nodes > 1) distance += kDoublingSharing * Doublings(a.sharing, b.sharing);
  return distance + kDoublingGroups * Doublings(a.groups, b.groups) +
         kDoublingStride * Doublings(a.stride, b.stride);
}

double SiteDistance(const CurveFeatures& a, const CurveFeatures& b, Regime regime) {
  if (regime == Regime::kLatency) return kSiteLatency;
  const bool through_host = a.intra == LinkKind::kHost && a.nodes == 1 && b.nodes == 1;
  return through_host ? kSiteThroughHost : kSiteBandwidth;
}

double Decay(double distance) {
  return (1 - kLongShare) * std::exp(-distance) + kLongShare * std::exp(-distance / kLongRange);
}

}  // namespace

CurveFeatures FeaturesOf(const Op& op, const Device& device) {
  CurveFeatures features;
  features.kind = op.kind;
  features.generation = device.generation;
  features.intra = op.fabric.intra.kind;
  features.nodes = op.fabric.nodes;
  features.ranks_per_node = std::max(1, op.fabric.ranks_per_node);
  if (op.fabric.nodes > 1) {
    features.network = StatedOrLikely(op.fabric.inter);
  }
  return features;
}

CurveFeatures FeaturesOf(const NetworkSample& sample, Generation generation) {
  Device device;
  device.generation = generation;
  CurveFeatures features = FeaturesOf(sample.op, device);
  features.site = sample.site;
  features.timing = sample.timing;
  features.forced = sample.forced;
  if (sample.op.fabric.nodes > 1 && !sample.is_network_stated) {
    features.network = NetworkKind::kUnstated;
  }
  features.sharing = sample.sharing;
  features.groups = sample.groups;
  features.stride = sample.stride;
  return features;
}

std::array<double, kRegimes.size()> Correlations(const CurveFeatures& a, const CurveFeatures& b) {
  if (IsUnrelated(a, b)) return {0, 0};
  const bool shares_links = IsOneNode(a) == IsOneNode(b) || (UsesInside(a) && UsesInside(b));
  const double shape = ShapeDistance(a, b);
  if (a.site == b.site) {
    const double both = Decay(shape);
    return {both, shares_links ? both : 0};
  }
  const auto at = [&](Regime regime) { return Decay(shape + SiteDistance(a, b, regime)); };
  return {at(Regime::kLatency), shares_links ? at(Regime::kBandwidth) : 0};
}

double Likeness(const CurveFeatures& a, const CurveFeatures& b) {
  if (IsUnrelated(a, b)) return 0;
  const double timing = a.timing == b.timing ? 0 : kFrameworkTiming;
  return std::exp(-ShapeDistance(a, b) - timing);
}

}  // namespace stagecraft
