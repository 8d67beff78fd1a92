#include "tools/network/network_comparison.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/network/network_model.h"
#include "costmodel/network/network_sample.h"
#include "sim/cluster/cluster_spec.h"
#include "tools/network/network_input.h"
#include "tools/verb/print_json.h"
#include "tools/verb/report_header.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;
// The least tolerance, since hosts of one kind differ by this much even if intervals are narrower.
constexpr double kLeastTolerance = 0.15;

struct ComparedRow {
  const NetworkSample* sample = nullptr;
  NetworkEstimate predicted;
};

double GbPerS(const Op& op, Duration time) { return BusBandwidth(op, time).bytes_per_s() * 1e-9; }

// Throws if a prediction is impossible.
void RequireSound(const std::vector<ComparedRow>& rows) {
  for (const ComparedRow& row : rows) {
    const Estimate& estimate = row.predicted.estimate;
    const bool is_sound = estimate.time > Duration() && estimate.spread >= 0 &&
                          std::isfinite(estimate.spread) &&
                          std::isfinite(GbPerS(row.sample->op, estimate.time));
    if (is_sound) continue;
    throw std::runtime_error(
        fmt::format("{}: {} of {} bytes is predicted to take {} ns, which is impossible, and "
                    "nothing is printed",
                    row.sample->system, Name(row.sample->op.kind), row.sample->op.bytes.count(),
                    estimate.time.ns()));
  }
}

const char* Verdict(const ComparedRow& row) {
  const double ratio = row.sample->time.seconds() / row.predicted.estimate.time.seconds();
  const double tolerance =
      std::max(std::log1p(kLeastTolerance), kSigmas80 * row.predicted.estimate.spread);
  if (std::abs(std::log(ratio)) <= tolerance) return "as predicted";
  return ratio > 1 ? "slower" : "faster";
}

// For each file, the index of the row with the largest message.
std::vector<size_t> LargestOfEachFile(const std::vector<ComparedRow>& rows) {
  std::vector<size_t> largest;
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool is_new = i == 0 || rows[i].sample->system != rows[i - 1].sample->system;
    if (is_new) largest.push_back(i);
    if (rows[i].sample->op.bytes > rows[largest.back()].sample->op.bytes) largest.back() = i;
  }
  return largest;
}

void Print(const std::vector<ComparedRow>& rows, std::ostream& out) {
  TextTable table({"op", "algorithm", "protocol", "verdict", "channels", "nodes", "ranks", "bytes",
                   "predicted busbw GB/s", "measured busbw GB/s", "measured / predicted time"},
                  4);
  for (const ComparedRow& row : rows) {
    const Op& op = row.sample->op;
    const Duration predicted = row.predicted.estimate.time;
    const auto& method = row.predicted.choice.method;
    table.Add({Name(op.kind), Name(method.algorithm), Name(method.protocol), Verdict(row),
               fmt::format("{}", method.channels), fmt::format("{}", op.fabric.nodes),
               fmt::format("{}", op.fabric.ranks), fmt::format("{}", op.bytes.count()),
               fmt::format("{:.2f}", GbPerS(op, predicted)),
               fmt::format("{:.2f}", GbPerS(op, row.sample->time)),
               fmt::format("{:.2f}", row.sample->time.seconds() / predicted.seconds())});
  }
  table.Print(out);
  for (const size_t i : LargestOfEachFile(rows)) {
    const ComparedRow& row = rows[i];
    out << fmt::format("{}: {}: busbw {:.1f} GB/s at {} bytes, predicted {:.1f} GB/s\n",
                       row.sample->system, Verdict(row), GbPerS(row.sample->op, row.sample->time),
                       row.sample->op.bytes.count(),
                       GbPerS(row.sample->op, row.predicted.estimate.time));
  }
}

Json ToJson(const std::vector<ComparedRow>& rows) {
  Json report;
  report["rows"] = Json::array();
  for (const ComparedRow& row : rows) {
    const Op& op = row.sample->op;
    report["rows"].push_back(
        {{"file", row.sample->system},
         {"op", Name(op.kind)},
         {"nodes", op.fabric.nodes},
         {"ranks", op.fabric.ranks},
         {"bytes", op.bytes.count()},
         {"algorithm", Name(row.predicted.choice.method.algorithm)},
         {"protocol", Name(row.predicted.choice.method.protocol)},
         {"channels", row.predicted.choice.method.channels},
         {"predicted_bus_bandwidth_gb_per_s", GbPerS(op, row.predicted.estimate.time)},
         {"measured_bus_bandwidth_gb_per_s", GbPerS(op, row.sample->time)},
         {"predicted_time_us", row.predicted.estimate.time.us()},
         {"measured_time_us", row.sample->time.us()},
         {"basis", Name(row.predicted.estimate.basis)},
         {"verdict", Verdict(row)}});
  }
  report["verdicts"] = Json::object();
  for (const size_t i : LargestOfEachFile(rows)) {
    report["verdicts"][rows[i].sample->system] = Verdict(rows[i]);
  }
  return report;
}

}  // namespace

void CompareNetwork(const NetworkLogs& logs, bool json, std::ostream& out) {
  if (logs.files.empty()) throw InputError("--network: got no file, want logs of nccl-tests");
  if (logs.cluster.empty())
    throw InputError("--cluster: got none, want the cluster on which the logs were taken");
  const NetworkInput input = ReadNetworkLogs("--network", logs.files, ParseCluster(logs.cluster));
  const NetworkModel model =
      logs.cost_model.empty() ? NetworkModel::Shipped() : NetworkModel::Read(logs.cost_model);
  std::vector<ComparedRow> rows;
  for (const NetworkSample& sample : input.samples) {
    const Op ops[] = {sample.op};
    rows.push_back(
        {&sample,
         model.Predict(ops, DeviceCatalogue::Embedded().Get(sample.gpu, "gpu").device)[0]});
  }
  RequireSound(rows);
  if (!json) {
    Print(rows, out);
    return;
  }
  Json report = ReportHeader("compare", kSchema, input.files);
  report.update(ToJson(rows));
  PrintJson(std::move(report), out);
}

}  // namespace stagecraft
