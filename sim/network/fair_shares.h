// FairShares: the max-min fair rates of flows that share links.
//
// The rates r are the only ones with
//   (1) r_f >= 0, and the sum of r_f over the flows f of link l <= capacity_l,
//   (2) r_f <= cap_f,
//   (3) r_f = cap_f, or f has a bottleneck: a link on its route that is full
//       (equality in (1)) and on which no flow is faster
// (Bertsekas, Gallager, "Data Networks", 1992, section 6.5). They are kept up to date as flows come
// and go and capacities change, touching only flows whose rate may change. At first, the flows that
// came are affected, and those whose bottleneck lost a flow, gained one or changed. They are filled
// anew, from the least fair share upwards, while all other rates are held. If (3) then fails for a
// flow whose rate is held (it is faster than a bottleneck on its route allows, or its own
// bottleneck is no longer full or has a faster flow), it is affected too, and the filling is
// repeated. When (3) fails for none, (1)-(3) hold for all, and as there is only one solution, this
// is it. A flow that is alone on all its links takes the least of its cap and their capacities at
// once.
//
// Rates are bytes per nanosecond. Equality means equal up to 1e-9 of the greater value.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "sim/network/index_runs.h"

namespace stagecraft {

using LinkId = int32_t;   // 0, 1, ... in the order in which they are added
using RouteId = int32_t;  // 0, 1, ... in the order in which they are added
using FlowId = int32_t;   // small and chosen by the caller; may be used again after Leave()

enum class LinkState : uint8_t { kIdle, kBusy, kFull };

// One Settle() costs O(rounds x (m + s log s)) for s affected flows and links with m flows on them;
// rounds are the number of links over which a change spreads, seldom above ten. Allocates only
// while it grows beyond what it has held before.
class FairShares {
 public:
  static constexpr double kNoCap = std::numeric_limits<double>::infinity();

  LinkId AddLink(double capacity);  // >= 0
  // The links of a route are distinct; a route without links limits no flow.
  RouteId AddRoute(std::span<const LinkId> links);

  void Join(FlowId flow, RouteId route, double cap = kNoCap);  // cap > 0
  void Leave(FlowId flow);                                     // only after a Settle()
  void SetCapacity(LinkId link, double capacity);

  // Brings all rates up to date. Returns the flows whose rates changed since the last call, some
  // perhaps twice; the span is valid until the next call.
  std::span<const FlowId> Settle();
  // Links whose state changed in the last Settle(); valid until the next one.
  std::span<const LinkId> changed_links() const { return settled_links_; }

  // These are valid after Settle(), until the next change.
  double rate(FlowId flow) const { return flows_[flow].rate; }
  LinkState state(LinkId link) const { return links_[link].state; }

  int link_count() const { return static_cast<int>(links_.size()); }
  int flow_count(LinkId link) const { return static_cast<int>(members_[link].size()); }
  FlowId flow(LinkId link, int index) const { return members_[link][index].flow; }
  std::span<const LinkId> route(RouteId route) const {
    return {route_links_.data() + route_begin_[route],
            route_links_.data() + route_begin_[route + 1]};
  }

 private:
  static constexpr LinkId kAtCap = -1;  // as bottleneck: the cap of the flow itself
  static constexpr LinkId kNone = -2;   // as bottleneck: not known yet

  struct Flow {
    double rate = 0;
    double cap = 0;
    RouteId route = 0;
    LinkId bottleneck = kNone;
    int32_t places = 0;     // first of the flow's indices into places_
    int32_t affected = -1;  // index into affected_, -1 for none
  };
  struct Member {
    FlowId flow;
    int32_t hop;  // which link of its route this is
  };
  struct Link {
    double capacity = 0;
    LinkState state = LinkState::kIdle;
    bool is_dirty = false;
    // Used while it settles:
    bool is_touched = false;
    int32_t affected = 0;      // how many of its flows are affected
    int32_t first_entry = -1;  // the first of these in entries_
    int32_t open = 0;          // how many of these are not filled yet
    double load = 0;           // sum of the rates before
    double old_top = 0;        // the greatest of them
    double old_fill = 0;       // the least of them with its bottleneck here; no cap if none
    double spare = 0;          // capacity less the rates held
    double left = 0;           // spare less the rates filled
    double fill = 0;           // rate of the flows that this link stopped; no cap if none
    double top = 0;            // greatest rate filled
  };

  // An affected flow in the list of one of its links.
  struct Entry {
    int32_t affected;
    int32_t next;
  };

  void MarkDirty(LinkId link);
  void SetState(LinkId link, LinkState state);
  void AffectFirst();
  void Affect(FlowId flow);
  void Touch(LinkId link);
  void Fill();
  void PrepareFill();
  void FillFlow(int32_t affected, double rate, LinkId bottleneck);
  void FillLink(LinkId link, double share);
  bool AffectViolators();
  void Commit();

  std::vector<Link> links_;
  std::vector<std::vector<Member>> members_;  // by link
  std::vector<int32_t> route_begin_{0};
  std::vector<LinkId> route_links_;
  std::vector<Flow> flows_;
  IndexRuns runs_;
  std::vector<int32_t> places_;  // by flow and hop: index into the link's members

  std::vector<LinkId> dirty_;
  std::vector<FlowId> fresh_;  // flows that joined and are not alone
  std::vector<FlowId> changed_, settled_;
  std::vector<LinkId> changed_links_, settled_links_;
  // Used while it settles:
  std::vector<FlowId> affected_;
  std::vector<Entry> entries_;
  std::vector<double> filled_;                      // by affected flow: its rate
  std::vector<LinkId> bottlenecks_;                 // by affected flow
  std::vector<LinkId> touched_;                     // links of affected flows
  std::vector<std::pair<double, int32_t>> capped_;  // (cap, affected), descending
  std::vector<std::pair<double, LinkId>> shares_;   // heap, least share on top
  int32_t open_ = 0;                                // affected flows not filled yet
};

}  // namespace stagecraft
