#include "tools/own/own_steps.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/nearest.h"
#include "costmodel/text.h"
#include "sim/step/evaluation_errors.h"
#include "tools/flags/network_flags.h"
#include "tools/flags/plan_flags.h"
#include "tools/flags/slow_flag.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"

namespace stagecraft {
namespace {

constexpr const char* kName = "name";
constexpr const char* kSeconds = "seconds";
constexpr const char* kTokens = "tokens_per_s";

// The flags that describe a step, as simulate has them.
struct StepFlags {
  StepFlags() : flags("simulate", "Simulates a row.") {
    plan.Register(flags);
    slow.Register(flags);
    network.Register(flags);
  }

  Flags flags;
  PlanFlags plan;
  SlowFlag slow;
  NetworkFlags network;
};

// Returns the flags by their names without the dashes at the beginning.
std::map<std::string, Flag> ByName(const Flags& flags) {
  std::map<std::string, Flag> known;
  for (const Flag& flag : flags.All()) {
    if (flag.name().starts_with("--")) known.emplace(flag.name().substr(2), flag);
  }
  return known;
}

class TableReader {
 public:
  explicit TableReader(const CsvTable& table) : table_(table), known_(ByName(described_.flags)) {
    for (int column = 0; column < table.column_count(); ++column) ReadColumn(column);
  }

  std::vector<OwnStep> Read() const {
    std::vector<OwnStep> steps;
    for (int row = 0; row < table_.row_count(); ++row) steps.push_back(ReadRow(row));
    if (steps.empty()) throw InputError(table_.name() + ": got no row, want a measured step");
    return steps;
  }

 private:
  void ReadColumn(int column) {
    const std::string& title = table_.column(column);
    std::string flag = title;
    std::replace(flag.begin(), flag.end(), '_', '-');
    while (flag.starts_with('-')) flag.erase(0, 1);
    const auto found = known_.find(flag);
    if (title == kName || title == kSeconds || title == kTokens) {
      flags_.push_back(nullptr);
    } else if (found != known_.end()) {
      flags_.push_back(&found->second);
    } else {
      std::vector<std::string> names = {kName, kSeconds, kTokens};
      for (const auto& [name, known] : known_) names.push_back(name);
      throw InputError(fmt::format("{}: column \"{}\": unknown; {}", table_.name(), title,
                                   NearestNames(flag, names)));
    }
  }

  std::string Field(int row, const char* name) const {
    const int column = table_.Column(name);
    return column < 0 ? "" : table_.field(row, column);
  }

  double Number(const std::string& place, int row, const char* name) const {
    const std::string text = Field(row, name);
    if (text.empty()) return 0;
    const std::optional<double> value = ParseNumber<double>(text);
    if (!value || !std::isfinite(*value) || *value <= 0) {
      throw InputError(
          fmt::format("{}: column \"{}\": got \"{}\", want a number above 0", place, name, text));
    }
    return *value;
  }

  void AddFlag(const std::string& place, const Flag& flag, const std::string& text,
               Args& args) const {
    if (text.empty()) return;
    if (!flag.is_switch()) {
      args.push_back(flag.name());
      args.push_back(text);
      return;
    }
    if (text != "on" && text != "off") {
      throw InputError(fmt::format("{}: column \"{}\": got \"{}\", want on, off or nothing", place,
                                   flag.name().substr(2), text));
    }
    if (text == "on") {
      args.push_back(flag.name());
    } else if (!flag.negations().empty()) {
      args.push_back(flag.negations()[0]);
    }
  }

  OwnStep ReadRow(int row) const {
    const std::string place =
        fmt::format("{}: row {} (line {})", table_.name(), row + 1, table_.line(row));
    std::string name = Field(row, kName);
    if (name.empty()) {
      name = fmt::format("{}-{:03}", std::filesystem::path(table_.name()).stem().string(), row + 1);
    }
    const double seconds = Number(place, row, kSeconds);
    const double tokens_per_s = Number(place, row, kTokens);
    if ((seconds > 0) == (tokens_per_s > 0)) {
      throw InputError(fmt::format("{}: got {} of seconds and tokens_per_s, want one", place,
                                   seconds > 0 ? "both" : "none"));
    }
    Args args;
    for (int column = 0; column < table_.column_count(); ++column) {
      if (flags_[column] != nullptr) {
        AddFlag(place, *flags_[column], table_.field(row, column), args);
      }
    }
    return {std::move(name), place, Build(place, args), seconds, tokens_per_s};
  }

  static PlannedJob Build(const std::string& place, const Args& args) {
    try {
      StepFlags flags;
      std::ostringstream unused;
      flags.flags.Parse(args, unused);
      PlannedJob job = flags.plan.Build();
      flags.slow.Apply(job);
      job.network = flags.network.Build(job.cluster);
      return job;
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", place, error.what()));
    }
  }

  const CsvTable& table_;
  const StepFlags described_;  // the flags in `known_`
  const std::map<std::string, Flag> known_;
  std::vector<const Flag*> flags_;  // by column; nullptr: no flag
};

}  // namespace

bool IsOwnTable(const CsvTable& table) {
  return table.Column("cluster") >= 0 &&
         (table.Column(kSeconds) >= 0 || table.Column(kTokens) >= 0);
}

std::vector<OwnStep> ReadOwnSteps(const CsvTable& table) { return TableReader(table).Read(); }

Evaluation Predict(const OwnStep& step, const CostModel& model) {
  try {
    const SimulatedStep simulated =
        SimulateStep(step.job.plan, step.job.workload, step.job.cluster, model,
                     {.network = step.job.network, .framework = step.job.memory});
    RequireSound(simulated.evaluation, simulated.plan, step.job.workload, step.job.cluster);
    return simulated.evaluation;
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", step.place, error.what()));
  }
}

}  // namespace stagecraft
