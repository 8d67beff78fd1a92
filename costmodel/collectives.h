// Collective: one row for each collective, with all that tells it from the others.
//
// Whoever needs to know how a collective moves data asks its row; only those who call MPI and
// NCCL have cases for single collectives.
#pragma once

#include <span>
#include <string_view>

#include "costmodel/op.h"

namespace stagecraft {

// What n ranks hold of the buffer that Op::bytes is the size of.
enum class Holding {
  kWhole,  // every rank the whole buffer
  kPart,   // every rank its own one of n equal parts
  kOne,    // one rank the whole buffer, the others nothing
};

// What each link of NCCL's ring carries, which is also what nccl-tests counts as bus bandwidth.
enum class Passes {
  kWholeOnce,   // the whole buffer
  kPartsOnce,   // n - 1 of its n parts
  kPartsTwice,  // n - 1 parts to reduce them, and n - 1 to gather them
};

// What NCCL runs it with.
enum class NcclAlgorithms {
  kDirect,  // messages between pairs of ranks: NCCL has no algorithm of its own for it
  kRing,
  kRingNvls,
  kRingTreeNvls,
};

struct Collective {
  OpKind kind;
  const char* name;             // what we print: "all-reduce"
  std::string_view word;        // in tables of measured collectives: "all_reduce"
  std::string_view nccl_tests;  // the program of nccl-tests, without "_perf"
  Holding before, after;
  bool reduces;  // what it leaves are sums over all ranks
  Passes passes;
  NcclAlgorithms algorithms;

  bool IsDirect() const { return algorithms == NcclAlgorithms::kDirect; }
  bool HasTree() const { return algorithms == NcclAlgorithms::kRingTreeNvls; }
  bool HasNvls() const { return HasTree() || algorithms == NcclAlgorithms::kRingNvls; }

  // From one rank to one other.
  bool IsMessage() const { return before == Holding::kOne && after == Holding::kOne; }
  // Every rank has another part for every rank, so that what it receives needs room of its own.
  bool IsExchange() const {
    return before == Holding::kWhole && after == Holding::kWhole && !reduces;
  }
  // How often a ring goes round: n - 1 steps each.
  int Rounds() const { return passes == Passes::kPartsTwice ? 2 : 1; }

  // Times that the whole buffer passes a rank's link, each way, where the node's switch reduces
  // and multicasts: to reduce to all, the rank's own part once more.
  double NvlsPasses(double ranks) const {
    return passes == Passes::kPartsTwice ? 1 + 1 / ranks : 1;
  }

  // Bus bandwidth over bytes / time, as nccl-tests has it.
  double BusFactor(int ranks) const;

  // Where pairs of ranks send messages, how many n-ths of the buffer pass the busiest rank's link
  // inside a node, and the busiest node's interfaces.
  struct DirectLoad {
    double intra, inter;
  };
  DirectLoad LoadOfDirect(double ranks, double ranks_per_node) const;
};

// All of them, in the order in which they are listed and measured.
std::span<const Collective> Collectives();

// CHECKs that the kind is a collective.
const Collective& CollectiveOf(OpKind kind);

// By the word of tables; null if there is none.
const Collective* FindCollective(std::string_view word);

}  // namespace stagecraft
