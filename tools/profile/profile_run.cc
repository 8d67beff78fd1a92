#include "tools/profile/profile_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/learned/samples/csv_field.h"
#include "costmodel/usual_links.h"
#include "tools/import/gpu_name.h"
#include "tools/profile/network_shapes.h"
#include "tools/profile/profile_journal.h"

namespace stagecraft {
namespace {

DeviceEntry EntryOf(const ProfileRequest& request, const MeasuredDevice& device) {
  if (device.uncatalogued) {
    if (request.gpu.empty()) {
      DeviceEntry entry;
      entry.device = *device.uncatalogued;
      return entry;
    }
    throw InputError("--gpu: got \"" + request.gpu +
                     "\", want none: a host's type is measured, not looked up");
  }
  if (request.uncatalogued) {
    RequireGpu("--cluster", *request.uncatalogued, device.name, 0);
    DeviceEntry entry;
    entry.device = *request.uncatalogued;
    return entry;
  }
  if (!request.gpu.empty()) return DeviceCatalogue::Embedded().Get(request.gpu, "--gpu");
  if (const DeviceEntry* entry = DeviceCatalogue::Embedded().Find(device.name)) return *entry;
  throw InputError("--gpu: the device calls itself \"" + device.name +
                   "\", which the catalogue does not know; want the id of what it is");
}

// The number of calls of each op, so that the gap between two calls shows as well.
constexpr int kWatchedCalls = 8;

SuiteOptions OptionsFor(const ProfileRequest& request, const DeviceEntry& entry, Bytes memory) {
  SuiteOptions options;
  options.size = request.suite;
  options.device = entry.device;
  options.memory = memory;
  // Tables have no column for a link.
  if (request.output.ends_with(".pb") && entry.pcie_generation > 0) {
    options.host_link = {LinkKind::kPcie, kPcieLatency, PcieBandwidth(entry.pcie_generation)};
  }
  options.networks = ProfiledNetworks(request.suite, entry.device.generation == Generation::kHost);
  return options;
}

struct SuiteOnDevice {
  ProfileReport report;  // with nothing measured so far
  std::vector<ProfileCase> suite;
  MeasuringRules rules;
};

SuiteOnDevice PrepareSuite(const OpTimer& timer, const ProfileRequest& request) {
  SuiteOnDevice made;
  made.report.device = timer.device();
  const DeviceEntry entry = EntryOf(request, made.report.device);
  made.report.gpu = entry.device.id;
  made.suite = MakeSuite(OptionsFor(request, entry, made.report.device.memory));
  made.report.cases = made.suite.size();
  made.rules = RulesFor(entry.device);
  return made;
}

bool IsHostCopy(const ProfileCase& one) { return one.op.kind == OpKind::kSendRecv; }

}  // namespace

ProfileReport RunProfileOn(OpTimer& timer, const ProfileRequest& request, ProfilerClock& clock,
                           const std::function<void(const ProfileProgress&)>& show) {
  auto [report, suite, rules] = PrepareSuite(timer, request);
  ProfileJournal journal(request.output, request.resumes);
  std::unordered_set<ProfileCase> done;
  for (const Sample& sample : journal.samples()) {
    if (sample.gpu != report.gpu) {
      throw InputError("-o: got " + request.output + ", which holds samples of " + sample.gpu +
                       ", want those of " + report.gpu);
    }
    done.insert({sample.op, sample.name});
  }
  const bool is_host = report.device.uncatalogued.has_value();
  report.leaves_host_copies = !is_host && std::none_of(suite.begin(), suite.end(), IsHostCopy);
  ProfilerOptions options;
  options.gpu = report.gpu;
  options.source = "stagecraft profile";
  options.seed = request.seed;
  options.budget = request.budget;
  options.stop = request.stop;
  options.rules = rules;
  report.outcome = RunProfiler(
      suite, done, timer, options, clock, [&](const Sample& sample) { journal.Append(sample); },
      show);
  return report;
}

KernelTable TabulateKernels(OpTimer& timer, KernelTracer& tracer, const ProfileRequest& request,
                            ProfilerClock& clock,
                            const std::function<void(const ProfileProgress&)>& show) {
  auto [report, suite, rules] = PrepareSuite(timer, request);
  std::string table = "op,kernel,device_kernel,runs,time_us,gap_us\n";
  const std::vector<size_t> order = ShuffledOrder(suite.size(), request.seed);
  for (size_t i = 0; i < order.size(); ++i) {
    if (clock.Elapsed() >= request.budget || (request.stop != nullptr && request.stop->load())) {
      report.outcome.left = order.size() - i;
      break;
    }
    const ProfileCase& one = suite[order[i]];
    show({i, order.size(), clock.Elapsed(), &one, {}});
    const PreparedOp prepared = timer.Prepare(one);
    if (prepared.op == nullptr) {
      report.outcome.Refuse(one, prepared.refusal);
      continue;
    }
    report.outcome.Accept(one);
    tracer.Start();
    prepared.op->Run(kWatchedCalls);
    for (const KernelSummary& kernel : SummariseKernels(tracer.Stop())) {
      table += fmt::format("{},{},{},{},{},{}\n", CsvField(Describe(one.op)), CsvField(one.kernel),
                           CsvField(kernel.name), kernel.runs, Decimal(kernel.time.ns(), 3),
                           Decimal(kernel.gap.ns(), 3));
    }
    ++report.outcome.measured;
  }
  return {std::move(table), std::move(report)};
}

}  // namespace stagecraft
