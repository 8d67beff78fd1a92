#include "sim/memory/rank_memory.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sim/pipeline/offloaded_passes.h"

namespace stagecraft {
namespace {

// CopiedBytes are bytes of activations whose copies begin or end after a pass. While a copy runs,
// its bytes are held on both sides.
struct CopiedBytes {
  int64_t host = 0;    // a copy out begins: from now on the host holds them
  int64_t gone = 0;    // a copy out has ended: the device no longer holds them
  int64_t device = 0;  // a copy back begins: from now on the device holds them
  int64_t back = 0;    // a copy back has ended: the host no longer holds them
};

// Returns one entry for each pass; none if nothing goes to the host.
std::vector<CopiedBytes> CopiesOf(const RankTensors& rank, const PassOrder& order) {
  std::vector<CopiedBytes> copies;
  if (rank.offloaded == 0) return copies;
  copies.resize(order.size());
  for (const OffloadedPass& pass : OffloadedPasses(order)) {
    const int64_t bytes = rank.Offloaded(order[pass.forward].chunk).count();
    copies[pass.forward].host += bytes;
    copies[pass.LastBeforeGone()].gone += bytes;
    copies[pass.LastBeforeBack()].device += bytes;
    copies[pass.backward - 1].back += bytes;
  }
  return copies;
}

class Walk {
 public:
  explicit Walk(const RankTensors& rank) : rank_(rank) {
    peak_.workspace = rank.workspace;
    peak_.allocated = rank.Static();
  }

  void Run(const PassSummary& pass) {
    Note(pass);
    held_ += pass.net;
    gradients_ += pass.net_gradient;
  }

  void Update() {
    const int64_t passes = most_;
    Note(rank_.update.summary);
    peak_.update_excess = Bytes(most_ - passes);
  }

  // Counts bytes that are being copied on both sides.
  void Copy(const CopiedBytes& copied) {
    held_ += copied.device;
    host_ += copied.host;
    Note({});
    peak_.host = std::max(peak_.host, Bytes(host_));
    held_ -= copied.gone;
    host_ -= copied.back;
  }

  RankPeak Done() {
    peak_.allocated += Bytes(most_);
    return peak_;
  }

 private:
  void Note(const PassSummary& pass) {
    if (held_ + pass.peak <= most_) return;
    most_ = held_ + pass.peak;
    peak_.gradients = Bytes(gradients_ + pass.peak_gradient);
    peak_.activations = Bytes(held_ - gradients_ + pass.peak_activation);
    peak_.workspace =
        rank_.workspace + Bytes(pass.peak - pass.peak_activation - pass.peak_gradient);
  }

  const RankTensors& rank_;
  RankPeak peak_;
  int64_t held_ = 0;
  int64_t gradients_ = 0;  // the part of it in gradients that backwards have made
  int64_t most_ = 0;
  int64_t host_ = 0;
};

}  // namespace

bool GradientMakers::Makes(int chunk, Phase phase) {
  Made& made = made_[chunk];
  const bool is_first = phase == Phase::kBackwardWeight ? !made.put_off : !made.now;
  if (IsBackward(phase)) made.now = true;
  if (MakesWeightGradients(phase)) made.put_off = true;
  return is_first;
}

Bytes RankTensors::Offloaded(int chunk) const {
  const int64_t saved = (*chunks[chunk])[Phase::kForward].summary.net;
  return Bytes(std::llround(offloaded * static_cast<double>(saved)));
}

RankPeak WalkRank(const RankTensors& rank, const PassOrder& order) {
  const std::vector<CopiedBytes> copies = CopiesOf(rank, order);
  Walk walk(rank);
  GradientMakers makers(rank.chunks.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const ChunkPass& pass = (*rank.chunks[order[i].chunk])[order[i].phase];
    walk.Run(makers.Makes(order[i].chunk, order[i].phase) ? pass.summary : pass.later);
    if (!copies.empty()) walk.Copy(copies[i]);
  }
  walk.Update();
  return walk.Done();
}

}  // namespace stagecraft
