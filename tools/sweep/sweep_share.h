// SweepShare: which points of a sweep this process takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/ranks/launched_rank.h"

namespace stagecraft {

// A shard is swept into a database of its own; the ranks of an MPI job sweep one together.
struct SweepShare {
  int64_t shard = 0, shards = 1;
  int64_t rank = 0, ranks = 1;
  int local_ranks = 1;             // on this machine
  bool is_shard_of_job = false;    // a batch system numbers it: all shards run the same command
  std::vector<std::string> notes;  // what was taken from the environment, a sentence each

  bool ShardHas(int64_t point) const { return point % shards == shard; }
  bool Has(int64_t point) const { return ShardHas(point) && point / shards % ranks == rank; }
};

// `shard` is "3/8", counted from 0, or empty: the share is then that of a Slurm array
// (SLURM_ARRAY_TASK_ID, _COUNT, _MIN, _STEP) or of an indexed job of Kubernetes
// (JOB_COMPLETION_INDEX, with `shards` of them), if this process is part of one. Ranks are those of
// FindLaunchedRank(). Throws InputError for a shard out of range, `shards` without such a job, and
// numbers of the environment that do not go together.
SweepShare ShareOf(const std::string& shard, std::optional<int> shards,
                   const Environment& environment);

// Returns the file of this shard: `path` itself or, if all shards run the same command,
// "runs.3-of-8.db" for "runs.db".
std::string PathOfShard(const std::string& path, const SweepShare& share);

}  // namespace stagecraft
