#include "tools/report/pipeline_charts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "costmodel/units.h"
#include "tools/chart/chart_page.h"

namespace stagecraft {
namespace {

// The colours of phases on the page.
constexpr std::array<int, kPhaseCount> kColours = {0, 2, 2, 9, 7, 7, 8, 3, 5, 4, 6, 5, 5, 8, 8};
constexpr double kSecondsFrom = 10;  // longer steps are shown in seconds

// A pass, or another task of a lane.
struct Pass {
  int row = 0;
  Phase phase = Phase::kForward;
  int chunk = -1, micro_batch = -1;
  Duration begin, end;
};

// Lanes that have a row of their own; empty: the row of the stage itself, or none.
const char* RowOf(LaneKind kind) {
  switch (kind) {
    case LaneKind::kData:
      return "replicas";
    case LaneKind::kContext:
      return "context";
    case LaneKind::kExpert:
      return "experts";
    case LaneKind::kVocabulary:
      return "vocabulary";
    case LaneKind::kHostOut:
      return "to host";
    case LaneKind::kHostIn:
      return "from host";
    case LaneKind::kCompute:
    case LaneKind::kSendNext:
    case LaneKind::kSendPrevious:
      return "";
  }
  return "";
}

class Picture {
 public:
  Picture(const Schedule& schedule, const Timeline& timeline)
      : schedule_(schedule),
        timeline_(timeline),
        is_in_seconds_(timeline.makespan().seconds() >= kSecondsFrom) {
    // The rank that stands for a stage is that of its first replica.
    std::map<int, int> rank_of_stage;
    const auto ranks = schedule.ranks();
    for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank) {
      if (ranks[rank].stage < 0) continue;
      const auto [found, is_new] = rank_of_stage.emplace(ranks[rank].stage, rank);
      if (!is_new && ranks[rank].replica < ranks[found->second].replica) found->second = rank;
    }
    for (const auto& [stage, rank] : rank_of_stage) AddStage(stage, rank);
  }

  std::string Html() const { return rows_.empty() ? "" : ToHtml(Passes()) + ToHtml(Times()); }

 private:
  double In(Duration time) const { return is_in_seconds_ ? time.seconds() : time.ms(); }
  const char* Unit() const { return is_in_seconds_ ? "s" : "ms"; }

  void AddStage(int stage, int rank) {
    const auto lanes = schedule_.lane_infos();
    stage_names_.push_back(fmt::format("stage {}", stage));
    busy_.emplace_back();
    for (int lane = 0; lane < static_cast<int>(lanes.size()); ++lane) {
      if (lanes[lane].rank != rank) continue;
      const bool computes = lanes[lane].kind == LaneKind::kCompute;
      const std::string beside = RowOf(lanes[lane].kind);
      const auto tasks = schedule_.order(static_cast<Lane>(lane));
      if ((!computes && beside.empty()) || tasks.empty()) continue;
      rows_.push_back(computes ? stage_names_.back()
                               : fmt::format("{} {}", stage_names_.back(), beside));
      AddTasks(tasks, computes);
    }
  }

  // The tasks of a lane as passes of the last row: parts of a divided pass are one.
  void AddTasks(std::span<const TaskId> tasks, bool computes) {
    const size_t first = passes_.size();
    for (const TaskId task : tasks) {
      const Tag& tag = schedule_.tag(task);
      const Duration begin = timeline_.start(task), end = timeline_.end(task);
      if (computes) busy_.back()[static_cast<size_t>(tag.phase)] += In(end - begin);
      if (end == begin) continue;
      if (passes_.size() > first && computes) {
        Pass& last = passes_.back();
        if (last.phase == tag.phase && last.chunk == tag.chunk &&
            last.micro_batch == tag.micro_batch) {
          last.end = end;
          continue;
        }
      }
      passes_.push_back(
          {static_cast<int>(rows_.size()) - 1, tag.phase, tag.chunk, tag.micro_batch, begin, end});
    }
  }

  BarsChart Passes() const {
    BarsChart chart{.title = "Passes of the pipeline",
                    .note =
                        "Each bar is a pass through the layers of a stage, or an exchange or an "
                        "update of it; numbers are micro-batches",
                    .x = {.label = fmt::format("time since the step began ({})", Unit()),
                          .min = 0,
                          .max = In(timeline_.makespan())},
                    .row_label = "",
                    .rows = rows_,
                    .series = {},
                    .bars = {},
                    .are_apart = true,
                    .zooms = true};
    const bool has_chunks = std::any_of(passes_.begin(), passes_.end(),
                                        [](const Pass& pass) { return pass.chunk > 0; });
    if (has_chunks) chart.note += ", and after the stroke chunks of the stage";
    std::vector<Pass> shown = Shown();
    if (shown.size() < passes_.size()) {
      chart.note += fmt::format(
          ". Of the {} passes the first and the last {} are drawn, and none of those between",
          passes_.size(), kMostPasses / 2);
    }
    chart.note += ".";
    std::array<int, kPhaseCount> series;
    series.fill(-1);
    for (const Pass& pass : shown) {
      const auto phase = static_cast<size_t>(pass.phase);
      if (series[phase] < 0) {
        series[phase] = static_cast<int>(chart.series.size());
        chart.series.push_back({Name(pass.phase), SeriesStyle::kBar, kColours[phase]});
      }
      std::string text = pass.micro_batch < 0 ? "" : fmt::format("{}", pass.micro_batch);
      if (has_chunks && !text.empty()) text += fmt::format("/{}", pass.chunk);
      chart.bars.push_back({pass.row, series[phase], In(pass.begin), In(pass.end), text});
    }
    return chart;
  }

  std::vector<Pass> Shown() const {
    std::vector<Pass> shown = passes_;
    if (shown.size() <= kMostPasses) return shown;
    std::stable_sort(shown.begin(), shown.end(),
                     [](const Pass& a, const Pass& b) { return a.begin < b.begin; });
    shown.erase(shown.begin() + kMostPasses / 2, shown.end() - kMostPasses / 2);
    return shown;
  }

  BarsChart Times() const {
    BarsChart chart{.title = "What the stages spend the step on",
                    .note = "Of one device of each stage; exchanges within a pass are part of it.",
                    .x = {.label = fmt::format("time ({})", Unit()), .min = 0},
                    .row_label = "",
                    .rows = stage_names_,
                    .series = {},
                    .bars = {}};
    std::vector<size_t> phases;  // those that occur
    for (size_t phase = 0; phase < kPhaseCount; ++phase) {
      const bool occurs = std::any_of(busy_.begin(), busy_.end(),
                                      [&](const auto& busy) { return busy[phase] > 0; });
      if (!occurs) continue;
      phases.push_back(phase);
      chart.series.push_back({Name(static_cast<Phase>(phase)), SeriesStyle::kBar, kColours[phase]});
    }
    chart.series.push_back({"idle", SeriesStyle::kBar, kGreyColour});
    for (size_t stage = 0; stage < busy_.size(); ++stage) {
      std::vector<double> values;
      double idle = In(timeline_.makespan());
      for (const size_t phase : phases) {
        values.push_back(busy_[stage][phase]);
        idle -= busy_[stage][phase];
      }
      values.push_back(idle);
      AddStack(chart, static_cast<int>(stage), values);
    }
    return chart;
  }

  const Schedule& schedule_;
  const Timeline& timeline_;
  const bool is_in_seconds_;
  std::vector<std::string> rows_, stage_names_;
  std::vector<Pass> passes_;
  std::vector<std::array<double, kPhaseCount>> busy_;  // by stage
};

}  // namespace

std::string PipelineCharts(const Schedule& schedule, const Timeline& timeline) {
  return Picture(schedule, timeline).Html();
}

}  // namespace stagecraft
