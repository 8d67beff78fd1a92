#include "costmodel/sync_time.h"

#include <algorithm>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// The links of one op, and how long they take to carry its bytes.
class SyncLoad {
 public:
  SyncLoad(const Op& op, const SyncRates& rates)
      : sync_(op.sync),
        rates_(rates),
        ranks_(op.fabric.ranks),
        nodes_(op.fabric.nodes),
        per_node_(ranks_ / nodes_),
        servers_(op.sync.servers),
        bytes_(static_cast<double>(op.bytes.count())) {}

  double Seconds() const {
    switch (sync_.method) {
      case SyncMethod::kHierarchical:
        return Hierarchical();
      case SyncMethod::kParameterServer:
        return 2 * Servers(bytes_ / servers_);
      case SyncMethod::kShardedParameterServer:
        return 2 * Peers(bytes_ / ranks_);
      case SyncMethod::kRollingServer:
        return 2 * Peers(bytes_);
      case SyncMethod::kGossip:
        return sync_.peers * bytes_ / (nodes_ > 1 ? rates_.network : rates_.intra);
      case SyncMethod::kReductionServer:
        return Servers(bytes_ / servers_);
      case SyncMethod::kBytePs:
        return BytePs();
      default:
        CHECK(!IsNccl(sync_.method));
        return 0;
    }
  }

 private:
  // Returns the seconds in which every rank sends `each` bytes to every other.
  double Peers(double each) const {
    const double inside = (per_node_ - 1) * each;
    const double outside = (ranks_ - per_node_) * each;
    return std::max(inside > 0 ? inside / rates_.intra : 0,
                    outside > 0 ? outside / rates_.network : 0);
  }

  // Returns the seconds in which every rank sends `each` bytes to every server.
  double Servers(double each) const {
    return std::max(servers_ * each / rates_.worker, ranks_ * each / rates_.server);
  }

  double Hierarchical() const {
    double seconds = 0;
    if (per_node_ > 1) seconds += 2 * (per_node_ - 1) / per_node_ * bytes_ / rates_.intra;
    if (nodes_ > 1) seconds += 2 * (nodes_ - 1) / nodes_ * bytes_ / per_node_ / rates_.network;
    return seconds;
  }

  // A rank's link carries, to each other rank, the part that that rank sums up and the sum of the
  // part that this rank sums up.
  double BytePs() const {
    const SummedParts parts = BytePsParts(static_cast<int>(ranks_), static_cast<int>(servers_));
    const double to_peer = 2 * parts.rank * bytes_;
    if (servers_ == 0) return Peers(to_peer);
    const double to_servers = servers_ * parts.server * bytes_ / rates_.worker;
    const bool are_outside = sync_.worker.kind == LinkKind::kNetwork;
    double inside = are_outside ? 0 : to_servers;
    double outside = are_outside ? to_servers : 0;
    if (per_node_ > 1) inside += (per_node_ - 1) * to_peer / rates_.intra;
    if (nodes_ > 1) outside += (ranks_ - per_node_) * to_peer / rates_.network;
    return std::max({inside, outside, ranks_ * parts.server * bytes_ / rates_.server});
  }

  const GradientSync& sync_;
  const SyncRates& rates_;
  double ranks_, nodes_, per_node_, servers_, bytes_;
};

}  // namespace

SummedParts BytePsParts(int ranks, int servers) {
  CHECK(ranks >= 2 && servers >= 0 && servers <= ranks);
  const double n = ranks;
  const double k = servers;
  const double whole = n * n + k * n - 2 * k;
  return {2 * (n - 1) / whole, (n - k) / whole};
}

double GossipContraction(int ranks, int peers) {
  CHECK(peers >= 1 && peers < ranks);
  const double n = ranks;
  return (n - 1 - peers) / ((n - 1) * (peers + 1));
}

double SyncSeconds(const Op& op, const SyncRates& rates) {
  CHECK(op.fabric.ranks >= 2);
  return SyncLoad(op, rates).Seconds();
}

}  // namespace stagecraft
