#include "tools/sweep/sweep_share.h"

#include <fmt/core.h>

#include <filesystem>
#include <string_view>

#include "costmodel/check.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

constexpr int64_t kMostShards = 1'000'000;

constexpr const char* kInstead = ", or --shard";

std::optional<int64_t> ShardNumber(const Environment& environment, const char* name) {
  return NumberIn(environment, name, kInstead);
}

void ReadShard(const std::string& text, SweepShare& share) {
  const size_t slash = text.find('/');
  const auto index = ParseNumber<int64_t>(std::string_view(text).substr(0, slash));
  const auto count = slash == std::string::npos
                         ? std::nullopt
                         : ParseNumber<int64_t>(std::string_view(text).substr(slash + 1));
  if (!index || !count || *count < 1 || *count > kMostShards || *index < 0 || *index >= *count) {
    throw InputError(fmt::format(
        "--shard: got \"{}\", want INDEX/COUNT, the first shard of four being 0/4", text));
  }
  share.shard = *index;
  share.shards = *count;
}

// Sets the shard of a Slurm array, whose tasks need not begin at 0. Returns whether there is one.
bool ReadSlurmArray(const Environment& environment, SweepShare& share) {
  const auto task = ShardNumber(environment, "SLURM_ARRAY_TASK_ID");
  if (!task) return false;
  const auto count = ShardNumber(environment, "SLURM_ARRAY_TASK_COUNT");
  const int64_t first = ShardNumber(environment, "SLURM_ARRAY_TASK_MIN").value_or(0);
  const int64_t step = ShardNumber(environment, "SLURM_ARRAY_TASK_STEP").value_or(1);
  const bool is_regular = count && step > 0 && *task >= first && (*task - first) % step == 0 &&
                          (*task - first) / step < *count;
  if (!is_regular) {
    throw InputError(fmt::format(
        "SLURM_ARRAY_TASK_ID: got {} of {} tasks from {} in steps of {}, want an array without "
        "gaps, or --shard",
        *task, count.value_or(0), first, step));
  }
  share.shard = (*task - first) / step;
  share.shards = *count;
  share.notes.push_back(fmt::format("shard {}/{}: SLURM_ARRAY_TASK_ID is {}, the first is {}",
                                    share.shard, share.shards, *task, first));
  return true;
}

bool ReadIndexedJob(const Environment& environment, std::optional<int> shards, SweepShare& share) {
  const auto index = ShardNumber(environment, "JOB_COMPLETION_INDEX");
  if (!index) return false;
  if (!shards) {
    throw InputError(fmt::format(
        "--shards: got none, but JOB_COMPLETION_INDEX is {}: want the number of completions of the "
        "job, or --shard 0/1 to sweep all points here",
        *index));
  }
  if (*index >= *shards) {
    throw InputError(fmt::format(
        "--shards: got {}, want more than JOB_COMPLETION_INDEX, which is {}", *shards, *index));
  }
  share.shard = *index;
  share.shards = *shards;
  share.notes.push_back(
      fmt::format("shard {}/{}: JOB_COMPLETION_INDEX is {}", share.shard, share.shards, *index));
  return true;
}

void ReadRank(const Environment& environment, SweepShare& share) {
  const std::optional<LaunchedRank> launched = FindLaunchedRank(environment);
  if (!launched) return;
  share.rank = launched->rank;
  share.ranks = launched->size;
  share.local_ranks = launched->local_size;
  if (launched->size == 1) return;
  share.notes.push_back(fmt::format("rank {} of {}: {} is {}", launched->rank, launched->size,
                                    launched->variable, launched->rank));
}

}  // namespace

SweepShare ShareOf(const std::string& shard, std::optional<int> shards,
                   const Environment& environment) {
  SweepShare share;
  ReadRank(environment, share);
  if (!shard.empty()) {
    if (shards) throw InputError("--shards: got it beside --shard, which says how many there are");
    ReadShard(shard, share);
    return share;
  }
  if (shards && (*shards < 1 || *shards > kMostShards)) {
    throw InputError(fmt::format("--shards: got {}, want 1 to {}", *shards, kMostShards));
  }
  share.is_shard_of_job =
      ReadSlurmArray(environment, share) || ReadIndexedJob(environment, shards, share);
  if (shards && *shards != share.shards) {
    throw InputError(fmt::format(
        "--shards: got {}, but the environment names {}; without a Slurm array or an indexed job "
        "of Kubernetes want --shard INDEX/COUNT",
        *shards, share.is_shard_of_job ? fmt::format("{} shards", share.shards) : "no shard"));
  }
  return share;
}

std::string PathOfShard(const std::string& path, const SweepShare& share) {
  if (!share.is_shard_of_job || share.shards == 1) return path;
  const std::filesystem::path whole(path);
  const std::string name = fmt::format("{}.{}-of-{}{}", whole.stem().string(), share.shard,
                                       share.shards, whole.extension().string());
  return (whole.parent_path() / name).string();
}

}  // namespace stagecraft
