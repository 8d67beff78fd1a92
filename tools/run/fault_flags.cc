#include "tools/run/fault_flags.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

struct SlowRank {
  int rank = 0;
  double speed = 1;
};

SlowRank ParseSlow(const std::string& text) {
  std::string_view rest = text;
  const std::optional<int> rank = TakeNumber<int>(rest);
  const bool is_assigned = rank && *rank >= 0 && rest.starts_with('=');
  const std::optional<double> speed =
      is_assigned ? ParseNumber<double>(rest.substr(1)) : std::nullopt;
  if (!speed) {
    throw InputError(fmt::format("--slow: got \"{}\", want RANK=SPEED, such as 1=0.5", text));
  }
  if (!(*speed > 0 && *speed <= 1)) {
    throw InputError(fmt::format("--slow: got speed {} of rank {}, want above 0 and at most 1",
                                 rest.substr(1), *rank));
  }
  return {*rank, *speed};
}

RankKill ParseKill(const std::string& text) {
  std::string_view rest = text;
  constexpr std::string_view kAt = "@step=";
  const std::optional<int> rank = TakeNumber<int>(rest);
  const bool has_step = rank && *rank >= 0 && rest.starts_with(kAt);
  const std::optional<int64_t> step =
      has_step ? ParseNumber<int64_t>(rest.substr(kAt.size())) : std::nullopt;
  if (!step) {
    throw InputError(fmt::format("--kill: got \"{}\", want RANK@step=N, such as 1@step=20", text));
  }
  return {*rank, *step};
}

void CheckRank(const char* flag, int rank, int ranks) {
  if (rank < ranks) return;
  throw InputError(fmt::format("{}: got rank {}, want {}, the ranks of the plan", flag, rank,
                               ranks == 1 ? "0" : fmt::format("0 to {}", ranks - 1)));
}

}  // namespace

void FaultFlags::Register(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kMeasurement);
  group
      .Add("--slow", slow_,
           {"<rank=speed>",
            "With host: this rank computes at a share of its speed: 1=0.5 takes twice as long. "
            "May be repeated."})
      .SplitAtCommas();
  group
      .Add("--kill", kills_,
           {"<rank@step=n>",
            "With host: when n steps of the --steps are complete, before a checkpoint there, the "
            "process of this rank is killed. All processes start again. May be repeated."})
      .SplitAtCommas();
  group.Add("--checkpoint-every", checkpoint_every_,
            {"<n>",
             "With host: after so many steps, and after the last, every rank writes its weights "
             "and its optimizer's states to a file, from which the processes start again.",
             "1 or more", "never"});
  group.Add("--checkpoint-folder", folder_,
            {"<folder>",
             "Where checkpoints are kept. A run that was stopped goes on from them when it is "
             "started again with the same plan.",
             "", "a temporary folder"});
}

MeasuredRunRequest FaultFlags::RunOf(int steps) const {
  MeasuredRunRequest run;
  run.steps = steps;
  run.checkpoint_every = checkpoint_every_.value_or(0);
  run.folder = folder_;
  for (const std::string& text : kills_) {
    const RankKill kill = ParseKill(text);
    if (kill.step < 1 || kill.step >= steps) {
      throw InputError(fmt::format("--kill: got step {}, want one above 0 and below --steps {}",
                                   kill.step, steps));
    }
    const auto& others = run.kills;
    if (std::find(others.begin(), others.end(), kill) != others.end()) {
      throw InputError(fmt::format("--kill: got \"{}\" twice, want each once", text));
    }
    run.kills.push_back(kill);
  }
  std::stable_sort(run.kills.begin(), run.kills.end(),
                   [](const RankKill& a, const RankKill& b) { return a.step < b.step; });
  return run;
}

void FaultFlags::Apply(const Flags& flags, const std::string& executor, std::optional<int> steps,
                       RunRequest& request) const {
  for (const char* flag : {"--slow", "--kill", "--checkpoint-every", "--checkpoint-folder"}) {
    if (executor == "host" || !flags.IsGiven(flag)) continue;
    throw InputError(
        fmt::format("{}: got it with --executor {}, want --executor host", flag, executor));
  }
  for (const std::string& text : slow_) ParseSlow(text);
  if (checkpoint_every_.value_or(1) < 1) {
    throw InputError(fmt::format("--checkpoint-every: got {}, want 1 or more", *checkpoint_every_));
  }
  if (!MeasuresRun()) {
    if (folder_.empty()) return;
    throw InputError("--checkpoint-folder: got it without --checkpoint-every, want both");
  }
  const char* const flag = kills_.empty() ? "--checkpoint-every" : "--kill";
  if (!folder_.empty() && !checkpoint_every_) {
    throw InputError("--checkpoint-folder: got it without --checkpoint-every, want both");
  }
  if (!steps) {
    throw InputError(fmt::format("{}: got no --steps, want the number of steps of the run", flag));
  }
  if (flags.IsGiven("--warm-up")) {
    throw InputError(
        fmt::format("--warm-up: got it with {}, want none: every step of the run counts", flag));
  }
  request.measured_run = RunOf(*steps);
}

void FaultFlags::ApplyRanks(int ranks, RunRequest& request) const {
  std::vector<bool> is_given(static_cast<size_t>(ranks));
  for (const std::string& text : slow_) {
    const SlowRank slow = ParseSlow(text);
    CheckRank("--slow", slow.rank, ranks);
    if (is_given[slow.rank]) {
      throw InputError(fmt::format("--slow: got rank {} twice, want each once", slow.rank));
    }
    is_given[slow.rank] = true;
    request.speeds.resize(static_cast<size_t>(ranks), 1);
    request.speeds[slow.rank] = slow.speed;
  }
  if (!request.measured_run) return;
  for (const RankKill& kill : request.measured_run->kills) CheckRank("--kill", kill.rank, ranks);
}

}  // namespace stagecraft
