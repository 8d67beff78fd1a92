// Collective: one row for each collective, with everything that distinguishes it from the others.
//
// Code that needs to know how a collective moves data reads its row; only the code that calls MPI
// and NCCL has cases for single collectives.
#pragma once

#include <span>
#include <string_view>

#include "costmodel/op.h"

namespace stagecraft {

// What each of n ranks holds of the buffer whose size is Op::bytes.
enum class Holding {
  kWhole,  // every rank holds the whole buffer
  kPart,   // every rank holds its own one of n equal parts
  kOne,    // one rank holds the whole buffer, the others nothing
};

// What each link of NCCL's ring carries, which nccl-tests counts for the bus bandwidth, too.
enum class Passes {
  kWholeOnce,   // the whole buffer
  kPartsOnce,   // n - 1 of its n parts
  kPartsTwice,  // n - 1 parts to reduce them, and n - 1 to gather them
};

// The algorithms that NCCL has for a collective.
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
  bool reduces;  // its results are sums over all ranks
  Passes passes;
  NcclAlgorithms algorithms;

  bool IsDirect() const { return algorithms == NcclAlgorithms::kDirect; }
  bool HasTree() const { return algorithms == NcclAlgorithms::kRingTreeNvls; }
  bool HasNvls() const { return HasTree() || algorithms == NcclAlgorithms::kRingNvls; }

  // Whether it sends from one rank to one other.
  bool IsMessage() const { return before == Holding::kOne && after == Holding::kOne; }
  // Whether every rank has a different part for every rank, so that it receives into a buffer of
  // its own.
  bool IsExchange() const {
    return before == Holding::kWhole && after == Holding::kWhole && !reduces;
  }
  // How often the data go round a ring, with n - 1 steps each time.
  int Rounds() const { return passes == Passes::kPartsTwice ? 2 : 1; }

  // How often the whole buffer passes a rank's link in each direction if the node's switch reduces
  // and multicasts; in an all-reduce, the rank's own part passes once more.
  double NvlsPasses(double ranks) const {
    return passes == Passes::kPartsTwice ? 1 + 1 / ranks : 1;
  }

  // The bus bandwidth over bytes / time, as nccl-tests defines it.
  double BusFactor(int ranks) const;

  // If pairs of ranks send messages: how many n-ths of the buffer pass the busiest rank's link
  // inside a node, and how many pass the busiest node's interfaces.
  struct DirectLoad {
    double intra, inter;
  };
  DirectLoad LoadOfDirect(double ranks, double ranks_per_node) const;
};

// Returns all collectives, in the order in which they are listed and measured.
std::span<const Collective> Collectives();

// Returns the row of a kind. CHECKs that the kind is a collective.
const Collective& CollectiveOf(OpKind kind);

// Returns the collective that tables call by this word; nullptr if there is none.
const Collective* FindCollective(std::string_view word);

}  // namespace stagecraft
