#include "sim/network/fair_shares.h"

#include <algorithm>
#include <functional>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// Far above the rounding error of a sum of rates, far below what shows in a time.
constexpr double kTolerance = 1e-9;
// A relative change below this leaves a rate as it is: it is only rounding.
constexpr double kRounding = 1e-13;

bool IsAbove(double a, double b) { return a > b * (1 + kTolerance); }

}  // namespace

LinkId FairShares::AddLink(double capacity) {
  CHECK(capacity >= 0);
  links_.push_back({});
  links_.back().capacity = capacity;
  members_.push_back({});
  return link_count() - 1;
}

RouteId FairShares::AddRoute(std::span<const LinkId> links) {
  route_links_.insert(route_links_.end(), links.begin(), links.end());
  route_begin_.push_back(static_cast<int32_t>(route_links_.size()));
  return static_cast<RouteId>(route_begin_.size()) - 2;
}

void FairShares::Join(FlowId flow, RouteId route_id, double cap) {
  if (flow >= static_cast<FlowId>(flows_.size())) flows_.resize(flow + 1);
  const std::span<const LinkId> links = route(route_id);
  const int hops = static_cast<int>(links.size());
  Flow& joined = flows_[flow];
  joined = {0, cap, route_id, kNone, runs_.Take(hops), -1};
  if (runs_.size() > static_cast<int32_t>(places_.size())) places_.resize(runs_.size());
  bool is_alone = true;
  double rate = cap;
  LinkId bottleneck = kAtCap;
  for (int hop = 0; hop < hops; ++hop) {
    const LinkId link = links[hop];
    places_[joined.places + hop] = flow_count(link);
    members_[link].push_back({flow, hop});
    is_alone &= flow_count(link) == 1;
    if (links_[link].capacity < rate) {
      rate = links_[link].capacity;
      bottleneck = link;
    }
  }
  if (!is_alone) {
    fresh_.push_back(flow);
    for (const LinkId link : links) MarkDirty(link);
    return;
  }
  joined.rate = rate;
  joined.bottleneck = bottleneck;
  changed_.push_back(flow);
  for (const LinkId link : links) {
    SetState(link, IsAbove(links_[link].capacity, rate) ? LinkState::kBusy : LinkState::kFull);
  }
}

void FairShares::Leave(FlowId flow) {
  const Flow& left = flows_[flow];
  const std::span<const LinkId> links = route(left.route);
  for (size_t hop = 0; hop < links.size(); ++hop) {
    const LinkId link = links[hop];
    const int32_t place = places_[left.places + hop];
    std::vector<Member>& members = members_[link];
    const Member last = members.back();
    members[place] = last;
    places_[flows_[last.flow].places + last.hop] = place;
    members.pop_back();
    if (members.empty()) {
      SetState(link, LinkState::kIdle);
    } else {
      MarkDirty(link);
    }
  }
  runs_.Give(left.places, static_cast<int>(links.size()));
}

void FairShares::SetCapacity(LinkId link, double capacity) {
  CHECK(capacity >= 0);
  links_[link].capacity = capacity;
  if (flow_count(link) > 0) MarkDirty(link);
}

std::span<const FlowId> FairShares::Settle() {
  if (!dirty_.empty()) {
    AffectFirst();
    do {
      Fill();
    } while (AffectViolators());
    Commit();
  }
  settled_.swap(changed_);
  changed_.clear();
  settled_links_.swap(changed_links_);
  changed_links_.clear();
  return settled_;
}

void FairShares::MarkDirty(LinkId link) {
  if (links_[link].is_dirty) return;
  links_[link].is_dirty = true;
  dirty_.push_back(link);
}

void FairShares::SetState(LinkId link, LinkState state) {
  if (links_[link].state == state) return;
  links_[link].state = state;
  changed_links_.push_back(link);
}

void FairShares::AffectFirst() {
  for (const FlowId flow : fresh_) Affect(flow);
  fresh_.clear();
  for (const LinkId link : dirty_) {
    links_[link].is_dirty = false;
    if (members_[link].empty()) continue;
    Touch(link);
    const bool is_overloaded = IsAbove(links_[link].load, links_[link].capacity);
    for (const Member& member : members_[link]) {
      if (is_overloaded || flows_[member.flow].bottleneck == link) Affect(member.flow);
    }
  }
}

void FairShares::Affect(FlowId flow) {
  if (flows_[flow].affected >= 0) return;
  const int32_t affected = static_cast<int32_t>(affected_.size());
  flows_[flow].affected = affected;
  affected_.push_back(flow);
  for (const LinkId id : route(flows_[flow].route)) {
    Touch(id);
    Link& link = links_[id];
    link.spare += flows_[flow].rate;
    ++link.affected;
    entries_.push_back({affected, link.first_entry});
    link.first_entry = static_cast<int32_t>(entries_.size()) - 1;
  }
}

// Sums up the link's flows as they were before this change.
void FairShares::Touch(LinkId id) {
  Link& link = links_[id];
  if (link.is_touched) return;
  link.is_touched = true;
  touched_.push_back(id);
  link.load = 0;
  link.old_top = 0;
  link.old_fill = kNoCap;
  for (const Member& member : members_[id]) {
    const Flow& flow = flows_[member.flow];
    link.load += flow.rate;
    link.old_top = std::max(link.old_top, flow.rate);
    if (flow.bottleneck == id) link.old_fill = std::min(link.old_fill, flow.rate);
  }
  link.spare = link.capacity - link.load;
}

// Gives every affected flow the rate that it has when all of them grow alike, each until it meets
// its cap or a link that is full.
void FairShares::Fill() {
  PrepareFill();
  while (open_ > 0) {
    double least = kNoCap;
    LinkId link = kNone;
    while (!shares_.empty()) {
      const auto [share, lowest] = shares_.front();
      const Link& candidate = links_[lowest];
      const double current = candidate.open > 0 ? candidate.left / candidate.open : kNoCap;
      if (current <= share) {  // shares only grow, so a true one on top is the least
        least = current;
        link = lowest;
        break;
      }
      std::pop_heap(shares_.begin(), shares_.end(), std::greater<>());
      shares_.pop_back();
      if (candidate.open == 0) continue;
      shares_.emplace_back(current, lowest);
      std::push_heap(shares_.begin(), shares_.end(), std::greater<>());
    }
    while (!capped_.empty() && filled_[capped_.back().second] >= 0) capped_.pop_back();
    if (!capped_.empty() && capped_.back().first <= least) {
      FillFlow(capped_.back().second, capped_.back().first, kAtCap);
    } else {
      FillLink(link, least);
    }
  }
}

void FairShares::PrepareFill() {
  shares_.clear();
  for (const LinkId id : touched_) {
    Link& link = links_[id];
    link.open = link.affected;
    // If all flows of the link are affected, no rate is held and nothing was rounded.
    link.left = link.affected == flow_count(id) ? link.capacity : std::max(link.spare, 0.0);
    link.fill = kNoCap;
    link.top = 0;
    if (link.open > 0) shares_.emplace_back(link.left / link.open, id);
  }
  std::make_heap(shares_.begin(), shares_.end(), std::greater<>());
  open_ = static_cast<int32_t>(affected_.size());
  filled_.assign(affected_.size(), -1);
  bottlenecks_.assign(affected_.size(), kNone);
  capped_.clear();
  for (int32_t affected = 0; affected < open_; ++affected) {
    const Flow& flow = flows_[affected_[affected]];
    if (flow.cap < kNoCap) capped_.emplace_back(flow.cap, affected);
  }
  std::sort(capped_.begin(), capped_.end(), std::greater<>());
}

void FairShares::FillFlow(int32_t affected, double rate, LinkId bottleneck) {
  filled_[affected] = rate;
  bottlenecks_[affected] = bottleneck;
  --open_;
  for (const LinkId id : route(flows_[affected_[affected]].route)) {
    Link& link = links_[id];
    link.left = std::max(link.left - rate, 0.0);
    --link.open;
    link.top = std::max(link.top, rate);
  }
}

void FairShares::FillLink(LinkId link, double share) {
  links_[link].fill = share;
  for (int32_t entry = links_[link].first_entry; entry >= 0; entry = entries_[entry].next) {
    const int32_t affected = entries_[entry].affected;
    if (filled_[affected] < 0) FillFlow(affected, share, link);
  }
}

bool FairShares::AffectViolators() {
  const size_t links = touched_.size();
  const size_t flows = affected_.size();
  for (size_t i = 0; i < links; ++i) {
    const LinkId id = touched_[i];
    const Link link = links_[id];
    if (link.affected == flow_count(id)) continue;
    const bool is_full = link.left <= kTolerance * link.capacity;
    // Only if a flow may be too fast or lose its bottleneck must all flows be looked at.
    const bool may_be_faster = IsAbove(link.old_top, link.fill);
    const bool may_lose = link.old_fill < kNoCap && (!is_full || IsAbove(link.top, link.old_fill));
    if (!may_be_faster && !may_lose) continue;
    for (const Member& member : members_[id]) {
      const Flow& flow = flows_[member.flow];
      if (flow.affected >= 0) continue;
      const bool lost_bottleneck =
          flow.bottleneck == id && (!is_full || IsAbove(link.top, flow.rate));
      if (lost_bottleneck || IsAbove(flow.rate, link.fill)) Affect(member.flow);
    }
  }
  return affected_.size() > flows;
}

void FairShares::Commit() {
  for (size_t i = 0; i < affected_.size(); ++i) {
    Flow& flow = flows_[affected_[i]];
    flow.affected = -1;
    flow.bottleneck = bottlenecks_[i];
    const bool is_same = filled_[i] - flow.rate <= kRounding * flow.rate &&
                         flow.rate - filled_[i] <= kRounding * flow.rate;
    if (is_same) continue;
    flow.rate = filled_[i];
    changed_.push_back(affected_[i]);
  }
  affected_.clear();
  entries_.clear();
  for (const LinkId id : touched_) {
    Link& link = links_[id];
    link.is_touched = false;
    link.affected = 0;
    link.first_entry = -1;
    SetState(id, link.left <= kTolerance * link.capacity ? LinkState::kFull : LinkState::kBusy);
  }
  touched_.clear();
  dirty_.clear();
}

}  // namespace stagecraft
