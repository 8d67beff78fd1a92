// ComputeTogether(): work on many items side by side, on all cores of all ranks of a team.
#pragma once

#include <oneapi/tbb/parallel_for.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/hash.h"
#include "search/budget_watch.h"
#include "search/packing.h"
#include "search/team.h"

namespace stagecraft {

// Returns compute(item) for every item from 0 to `count`. Calls it from several threads, for any of
// them; with a team, every rank calls it for some of the items and gets the results of the others,
// as PassAlong() passes them. `name` adds what an item is to a Hash. Throws UnlikeRanks() if the
// items of the ranks differ.
template <typename Result, typename Compute, typename Name>
std::vector<Result> ComputeTogether(BudgetWatch& watch, size_t count, const Compute& compute,
                                    const Name& name) {
  std::vector<Result> results(count);
  Team* const team = watch.team();
  const size_t ranks = team == nullptr ? 1 : static_cast<size_t>(team->size());
  const size_t rank = team == nullptr ? 0 : static_cast<size_t>(team->rank());
  const size_t own = count > rank ? (count - rank - 1) / ranks + 1 : 0;
  tbb::parallel_for(size_t{0}, own,
                    [&](size_t i) { results[rank + i * ranks] = compute(rank + i * ranks); });
  if (team == nullptr) return results;

  Hash items;
  items.Add("items");
  for (size_t item = 0; item < count; ++item) name(item, items);
  Packer packer;
  packer(watch.Own());
  for (size_t item = rank; item < count; item += ranks) packer(results[item]);
  const std::vector<std::string> all = ExchangeAbout(*team, items.value(), packer.Take());
  for (size_t other = 0; other < ranks; ++other) {
    Unpacker unpacker(all[other]);
    BudgetWatch::Opinion opinion;
    unpacker(opinion);
    watch.Hear(opinion);
    if (other == rank) continue;
    for (size_t item = other; item < count; item += ranks) unpacker(results[item]);
  }
  return results;
}

}  // namespace stagecraft
