// HistoryText() and its like: histories as text, CSV and JSON, and what many have in common.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "proto/history.pb.h"
#include "sim/job/history.h"

namespace stagecraft {

HistoryProto HistoryToProto(const History& history);
// Reads what HistoryToProto() makes. Throws an InputError that begins with `place` for phases of no
// kind, with a time below zero, or with a plan that is not among `plans`.
History HistoryFromProto(const HistoryProto& proto, const std::string& place);

// Returns a line for each phase, then the plans, the totals, what was lost by cause, and why it
// stopped.
std::string HistoryText(const History& history);
// Returns a header and a line for each phase; times are in ns.
std::string HistoryCsv(const History& history);
// Returns a HistoryProto as JSON whose numbers are numbers; readers of JSON files accept it.
std::string HistoryJson(const History& history);

// The quantiles of one number over many histories (interpolated), and its mean.
struct RunQuantiles {
  double mean = 0;
  double p5 = 0;
  double p50 = 0;
  double p95 = 0;
};
struct RunsSummary {
  int runs = 0;
  RunQuantiles time_s;
  RunQuantiles goodput;
  RunQuantiles failures;
  std::array<RunQuantiles, kPhaseKinds> lost_gpu_hours;  // They are by cause, as RunTotals::lost.
};
// Precondition: there is at least one.
RunsSummary Summarise(const std::vector<RunTotals>& runs);
std::string RunsText(const RunsSummary& summary);

}  // namespace stagecraft
