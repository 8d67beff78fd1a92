#include "tools/recorded/nccl_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "tools/recorded/recorded_ranks.h"

namespace stagecraft {
namespace {

struct Group {
  std::map<int, int64_t> calls;  // of each rank that calls it
  int stated_size = 0;           // 0: not known
};

bool IsOpen(const RecordedCollective& collective) {
  return collective.message > Bytes() && collective.group >= 0 && collective.ranks < 0;
}

// Returns the rank of each recording of a single device; -1 for others.
std::vector<int> RankOfRecordings(const std::vector<Recording>& recordings) {
  std::vector<int> rank_of(recordings.size(), -1), devices(recordings.size(), 0);
  for (const RecordedRank& rank : FindRanks(recordings).ranks) {
    rank_of[rank.recording] = ++devices[rank.recording] == 1 ? rank.rank : -1;
  }
  return rank_of;
}

std::map<std::string, Group> GroupsIn(const std::vector<Recording>& recordings,
                                      const std::vector<int>& rank_of) {
  std::map<std::string, Group> groups;
  for (size_t i = 0; i < recordings.size(); ++i) {
    if (rank_of[i] < 0) continue;
    for (const RecordedCollective& collective : recordings[i].collectives) {
      if (!IsOpen(collective)) continue;
      Group& group = groups[recordings[i].names[collective.group]];
      ++group.calls[rank_of[i]];
      group.stated_size = std::max(group.stated_size, collective.group_size);
    }
  }
  return groups;
}

// Returns the ranks in order; none if they are not all known.
std::vector<int> RanksOf(const Group& group, int job_size, bool is_whole_job) {
  if (job_size > 0 && group.stated_size == job_size) {
    std::vector<int> all(job_size);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  const bool is_whole =
      group.stated_size > 0 ? std::ssize(group.calls) == group.stated_size : is_whole_job;
  std::vector<int> ranks;
  if (!is_whole) return ranks;
  for (const auto& [rank, calls] : group.calls) ranks.push_back(rank);
  return ranks;
}

// Ranks pass one part of what they gather, scatter or exchange (NCCL's API: sendcount, recvcount).
bool IsOfParts(KernelClass kind) {
  return kind == KernelClass::kAllGather || kind == KernelClass::kReduceScatter ||
         kind == KernelClass::kAllToAll;
}

void Complete(const std::vector<int>& ranks, Recording& recording, RecordedCollective& collective) {
  const int64_t parts = IsOfParts(collective.kind) ? std::ssize(ranks) : 1;
  collective.bytes = Bytes(collective.message.count() * parts);
  collective.group_size = static_cast<int>(ranks.size());
  collective.ranks = recording.names.Intern(fmt::format("[{}]", fmt::join(ranks, ", ")));
}

}  // namespace

void FindNcclGroups(int job_size, std::vector<Recording>& recordings) {
  const bool has_open =
      std::any_of(recordings.begin(), recordings.end(), [](const Recording& recording) {
        return std::any_of(recording.collectives.begin(), recording.collectives.end(), IsOpen);
      });
  if (!has_open) return;
  const std::vector<int> rank_of = RankOfRecordings(recordings);
  const bool is_whole_job =
      job_size > 0 && std::ssize(recordings) == job_size &&
      std::none_of(rank_of.begin(), rank_of.end(), [](int rank) { return rank < 0; });
  for (const auto& [communicator, group] : GroupsIn(recordings, rank_of)) {
    const std::vector<int> ranks = RanksOf(group, job_size, is_whole_job);
    std::set<int64_t> counts;
    for (const auto& [rank, calls] : group.calls) counts.insert(calls);
    for (size_t i = 0; i < recordings.size(); ++i) {
      if (rank_of[i] < 0) continue;
      for (RecordedCollective& collective : recordings[i].collectives) {
        if (!IsOpen(collective) || recordings[i].names[collective.group] != communicator) continue;
        if (counts.size() > 1) collective.sequence = -1;
        if (ranks.size() > 1) Complete(ranks, recordings[i], collective);
      }
    }
  }
}

}  // namespace stagecraft
