#include "costmodel/collectives.h"

#include <array>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

using enum Passes;
using enum NcclAlgorithms;

constexpr bool kReduces = true;
constexpr bool kMoves = false;
constexpr Holding kWhole = Holding::kWhole;
constexpr Holding kPart = Holding::kPart;
constexpr Holding kOne = Holding::kOne;

// The columns are the fields of Collective. Bus factors and names of programs are those of
// nccl-tests (doc/PERFORMANCE.md and src/).
constexpr Collective kRows[] = {
    {OpKind::kAllReduce, "all-reduce", "all_reduce", "all_reduce",  //
     kWhole, kWhole, kReduces, kPartsTwice, kRingTreeNvls},
    {OpKind::kAllGather, "all-gather", "all_gather", "all_gather",  //
     kPart, kWhole, kMoves, kPartsOnce, kRingNvls},
    {OpKind::kReduceScatter, "reduce-scatter", "reduce_scatter", "reduce_scatter",  //
     kWhole, kPart, kReduces, kPartsOnce, kRingNvls},
    {OpKind::kAllToAll, "all-to-all", "all_to_all", "alltoall",  //
     kWhole, kWhole, kMoves, kPartsOnce, kDirect},
    {OpKind::kBroadcast, "broadcast", "broadcast", "broadcast",  //
     kOne, kWhole, kMoves, kWholeOnce, kRing},
    {OpKind::kSendRecv, "send-recv", "send_recv", "sendrecv",  //
     kOne, kOne, kMoves, kWholeOnce, kDirect},
};

constexpr int kNoRow = -1;

// The index of a kind's row, by OpKind.
constexpr std::array<int, kOpKindCount> kRowOfKind = [] {
  std::array<int, kOpKindCount> rows = {};
  rows.fill(kNoRow);
  int row = 0;
  for (const Collective& collective : kRows) rows[static_cast<int>(collective.kind)] = row++;
  return rows;
}();

}  // namespace

bool IsCollective(OpKind kind) { return kRowOfKind[static_cast<int>(kind)] != kNoRow; }

std::span<const Collective> Collectives() { return kRows; }

const Collective& CollectiveOf(OpKind kind) {
  CHECK(IsCollective(kind));
  return kRows[kRowOfKind[static_cast<int>(kind)]];
}

const Collective* FindCollective(std::string_view word) {
  for (const Collective& collective : kRows) {
    if (collective.word == word) return &collective;
  }
  return nullptr;
}

double Collective::BusFactor(int ranks) const {
  if (passes == kWholeOnce) return 1;
  return Rounds() * (static_cast<double>(ranks - 1) / ranks);
}

Collective::DirectLoad Collective::LoadOfDirect(double ranks, double ranks_per_node) const {
  if (IsMessage()) return {ranks, ranks};
  return {ranks_per_node - 1, ranks_per_node * (ranks - ranks_per_node)};
}

}  // namespace stagecraft
