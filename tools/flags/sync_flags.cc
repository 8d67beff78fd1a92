#include "tools/flags/sync_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "costmodel/check.h"
#include "costmodel/gradient_sync.h"
#include "costmodel/sync_time.h"
#include "costmodel/units.h"
#include "sim/workload/limits.h"

namespace stagecraft {
namespace {

Args MethodNames() {
  Args names;
  for (int i = 0; i < kSyncMethodCount; ++i) names.push_back(Name(static_cast<SyncMethod>(i)));
  return names;
}

// The number of data-parallel ranks of the stage that has most of them.
int MostDataRanks(const Plan& plan) {
  size_t most = 1;
  for (const Stage& stage : plan.stages) {
    most = std::max(most, stage.replicas.size() * static_cast<size_t>(stage.context_parallel));
  }
  return static_cast<int>(most);
}

std::string GossipNote(int ranks, int peers) {
  return fmt::format(
      "gossip with {} of {} ranks changes the trained model: replicas do not agree, one step "
      "leaves {:.3f} of the variance among them (expected lambda_2(W)^2 of the mixing matrix, "
      "peers drawn anew each step); real ranks do not wait for each other, here all ranks of a "
      "group end together",
      peers, ranks, GossipContraction(ranks, peers));
}

std::string RollingNote(const SyncOptions& sync, int ranks) {
  const auto first = static_cast<int>(sync.step % ranks);
  if (first != sync.dead_server) {
    return fmt::format("rolling server: data-parallel rank {} of {} serves step {}", first, ranks,
                       sync.step);
  }
  return fmt::format(
      "rolling server: data-parallel rank {} of {} is dead as a server of step {}, noticed after "
      "{} ms; the next one serves",
      first, ranks, sync.step, sync.timeout.ms());
}

}  // namespace

std::vector<Flag> SyncFlags::Register(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kOverlap);
  return {
      group
          .Add("--gradient-sync", method_,
               {"<name>", "How data-parallel replicas agree on gradients, with --zero 0.", "",
                "all-reduce, as NCCL does it"})
          .Suggest(MethodNames()),
      group
          .Add("--sync-servers", options_.servers,
               {"<n>",
                "With parameter-server, reduction-server or byteps: servers of each data-parallel "
                "group, on devices besides those of the plan.",
                "0 or more", "0"})
          .AtLeast(0),
      group
          .Add("--sync-peers", options_.peers,
               {"<n>", "With gossip: to how many others each rank sends its gradients.",
                "1 or more", "none"})
          .AtLeast(1),
      group
          .Add("--sync-step", options_.step,
               {"<n>",
                "With rolling-server: number of the training step; the rank of that number, "
                "modulo the replicas, serves.",
                "0 or more", "0"})
          .AtLeast(0),
      group.Add("--dead-server", options_.dead_server,
                {"<rank>", "With rolling-server: a rank that does not serve when its turn comes.",
                 "", "none"}),
      group.Add(
          "--sync-timeout-ms", timeout_ms_,
          {"<ms>", "With rolling-server: milliseconds until a dead server is skipped, once a step.",
           fmt::format("0 to {} (a day)", kMostTimeout.ms()), "0"})};
}

SyncOptions SyncFlags::Options() const {
  SyncOptions options = options_;
  bool is_known = false;
  for (int i = 0; i < kSyncMethodCount; ++i) {
    const auto method = static_cast<SyncMethod>(i);
    if (method_ != Name(method)) continue;
    options.method = method;
    is_known = true;
  }
  if (!is_known) {
    throw InputError(fmt::format("--gradient-sync: got \"{}\", want one of {}", method_,
                                 fmt::join(MethodNames(), ", ")));
  }
  if (!(timeout_ms_ >= 0 && timeout_ms_ <= kMostTimeout.ms())) {
    throw InputError(fmt::format("--sync-timeout-ms: got {}, want 0 to {} (a day)", timeout_ms_,
                                 kMostTimeout.ms()));
  }
  options.timeout = Duration::Seconds(timeout_ms_ * 1e-3);
  return options;
}

std::vector<std::string> SyncNotes(const Plan& plan) {
  const SyncOptions& sync = plan.gradient_sync;
  const int ranks = MostDataRanks(plan);
  std::vector<std::string> notes;
  if (ranks < 2) return notes;
  if (sync.method == SyncMethod::kGossip) notes.push_back(GossipNote(ranks, sync.peers));
  if (sync.method == SyncMethod::kRollingServer) notes.push_back(RollingNote(sync, ranks));
  if (sync.servers > 0) {
    notes.push_back(
        fmt::format("{}: {} server{} for each group of replicas, on devices beyond the plan's; the "
                    "time of the reduction there is not counted",
                    Name(sync.method), sync.servers, sync.servers == 1 ? "" : "s"));
  }
  return notes;
}

}  // namespace stagecraft
