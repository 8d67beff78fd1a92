#include "tools/profile/collective_sweep.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

#include "costmodel/network/collective_table.h"
#include "costmodel/network/network_sample.h"
#include "runtime/profile/collective_suite.h"

namespace stagecraft {
namespace {

constexpr const char* kSource = "stagecraft profile";

CollectiveSuiteOptions OptionsFor(const Cluster& cluster, SuiteSize size, Bytes memory) {
  std::vector<int> all(cluster.device_count());
  std::iota(all.begin(), all.end(), 0);
  CollectiveSuiteOptions options;
  options.size = size;
  options.groups = {cluster.DescribeGroup(std::vector{0, 1}), cluster.DescribeGroup(all)};
  options.pair = cluster.DescribePair(0, 1, 1);
  options.memory = memory;
  return options;
}

NetworkSample SampleOf(const Sample& measured, const std::string& system) {
  NetworkSample sample;
  sample.op = measured.op;
  sample.gpu = measured.gpu;
  sample.time = measured.time;
  sample.dtype = Name(kCollectiveType);
  sample.system = system;
  sample.software = measured.software;
  sample.source = measured.source;
  return sample;
}

}  // namespace

CollectiveSweep SweepCollectives(OpTimer& timer, const Cluster& cluster,
                                 const ProfileRequest& request, ProfilerClock& clock,
                                 const std::function<void(const ProfileProgress&)>& show) {
  CollectiveSweep sweep;
  ProfileReport& report = sweep.report;
  report.device = timer.device();
  report.gpu = cluster.device(0).id;
  const std::vector<ProfileCase> suite =
      MakeCollectiveSuite(OptionsFor(cluster, request.suite, report.device.memory));
  report.cases = suite.size();
  ProfilerOptions options;
  options.gpu = report.gpu;
  options.source = kSource;
  options.seed = request.seed;
  // NcclTimedOp::Run() neither flushes caches nor keeps its devices busy before its calls.
  options.rules.beside_calls = Duration();
  options.budget = request.budget;
  options.stop = request.stop;
  const std::string system = fmt::format("{} x {}", cluster.device_count(), report.device.name);
  std::vector<NetworkSample> samples;
  report.outcome = RunProfiler(
      suite, {}, timer, options, clock,
      [&](const Sample& measured) { samples.push_back(SampleOf(measured, system)); }, show);
  const auto order = [](const NetworkSample& sample) {
    return std::tuple(sample.op.fabric.ranks, sample.op.kind, sample.op.bytes);
  };
  std::sort(samples.begin(), samples.end(),
            [&](const NetworkSample& a, const NetworkSample& b) { return order(a) < order(b); });
  sweep.text = FormatCollectiveTable(samples, request.output);
  return sweep;
}

}  // namespace stagecraft
