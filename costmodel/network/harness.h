// Harnesses: what sources add to the times of their collectives.
//
// A framework's call contains the launch by the host, once and for each rank, and some calls copy
// between a list of tensors and the flat buffer that NCCL needs. None of this is NCCL's time: it is
// estimated for each source from the source's own rows, taken off before curves are made of them,
// reported, and never charged to a simulated collective.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>

#include "costmodel/network/network_sample.h"
#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {

struct HarnessTime {
  Duration call;  // of each call
  Duration rank;  // and for each rank of the group
  friend bool operator==(const HarnessTime&, const HarnessTime&) = default;
};

class Harnesses {
 public:
  using Key = std::pair<std::string, OpKind>;  // source and collective
  // Stands for sources of which no rows were seen: it has the medians over all sources.
  static constexpr const char* kAnySource = "";

  Harnesses() = default;
  explicit Harnesses(std::map<Key, HarnessTime> times) : times_(std::move(times)) {}

  // Estimates the times of the sources that time a framework's calls. Over the sizes of a group on
  // one node, a time is the harness's plus a multiple of the formula's (formula.h); over groups,
  // the harness's is linear in the ranks. A source and collective with no more than one number of
  // ranks gets no time for each rank. CHECKs that GPU types are in the catalogue.
  static Harnesses Estimate(std::span<const NetworkSample> samples, std::span<const int> chosen);

  // Returns the part of the sample's time that is not NCCL's, which is the copies alone for a
  // collective that was not estimated. Copies read and write each byte in the GPU's memory.
  Duration Of(const NetworkSample& sample) const;

  const std::map<Key, HarnessTime>& times() const { return times_; }

 private:
  std::map<Key, HarnessTime> times_;
};

}  // namespace stagecraft
