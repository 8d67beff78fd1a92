#include "tools/profile/profile_run.h"

#include <unordered_set>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/usual_links.h"
#include "tools/profile/network_shapes.h"
#include "tools/profile/profile_journal.h"

namespace stagecraft {
namespace {

const DeviceEntry& EntryOf(const ProfileRequest& request, const MeasuredDevice& device) {
  if (!request.gpu.empty()) return DeviceCatalogue::Embedded().Get(request.gpu, "--gpu");
  if (const DeviceEntry* entry = DeviceCatalogue::Embedded().Find(device.name)) return *entry;
  throw InputError("--gpu: the device calls itself \"" + device.name +
                   "\", which the catalogue does not know; want the id of what it is");
}

SuiteOptions OptionsFor(const ProfileRequest& request, const DeviceEntry& entry, Bytes memory) {
  SuiteOptions options;
  options.size = request.suite;
  options.device = entry.device;
  options.memory = memory;
  // Tables have no column for a link.
  if (request.output.ends_with(".pb") && entry.pcie_generation > 0) {
    options.host_link = {LinkKind::kPcie, kPcieLatency, PcieBandwidth(entry.pcie_generation)};
  }
  options.networks = ProfiledNetworks(request.suite);
  return options;
}

}  // namespace

ProfileReport RunProfileOn(OpTimer& timer, const ProfileRequest& request, ProfilerClock& clock,
                           const std::function<void(const ProfileProgress&)>& show) {
  ProfileReport report;
  report.device = timer.device();
  const DeviceEntry& entry = EntryOf(request, report.device);
  report.gpu = entry.device.id;
  ProfileJournal journal(request.output, request.resumes);
  std::unordered_set<ProfileCase> done;
  for (const Sample& sample : journal.samples()) {
    if (sample.gpu != report.gpu) {
      throw InputError("-o: got " + request.output + ", which holds samples of " + sample.gpu +
                       ", want those of " + report.gpu);
    }
    done.insert({sample.op, sample.name});
  }
  const SuiteOptions suite_options = OptionsFor(request, entry, report.device.memory);
  report.leaves_host_copies = suite_options.host_link.bandwidth == Bandwidth();
  const std::vector<ProfileCase> suite = MakeSuite(suite_options);
  report.cases = suite.size();
  ProfilerOptions options;
  options.gpu = report.gpu;
  options.source = "stagecraft profile";
  options.seed = request.seed;
  options.budget = request.budget;
  options.stop = request.stop;
  report.outcome = RunProfiler(
      suite, done, timer, options, clock, [&](const Sample& sample) { journal.Append(sample); },
      show);
  return report;
}

}  // namespace stagecraft
