#include "runtime/host_processor.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

#include "costmodel/op.h"

namespace stagecraft {
namespace {

constexpr int kProducts[] = {256, 512, 1024};  // m = n = k
constexpr Bytes kStreamed = Bytes(8 << 20);
constexpr double kSeconds = 0.5;  // for this long each op is run again and again

// Returns how often an op is done in a second. This is the mean and not the best, since whatever
// else a CPU has to do it also does during a training step.
double RunsPerSecond(HostOps& ops, const Op& op) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  double spent = 0;
  int runs = 0;
  for (; spent < kSeconds; ++runs) {
    ops.Run(op);
    spent = std::chrono::duration<double>(Clock::now() - begin).count();
  }
  return runs / spent;
}

// Returns the value of a key in /proc/cpuinfo, for the first CPU; empty if there is none.
std::string ProcessorInfo(const std::string& key) {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

// Returns the highest clock, or a common one if the kernel does not control the clock, as in a
// virtual machine.
double BoostClockHz() {
  double kilohertz = 0;
  std::ifstream("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq") >> kilohertz;
  return kilohertz > 0 ? kilohertz * 1e3 : 2e9;
}

}  // namespace

std::string ProcessorName() {
  const std::string name = ProcessorInfo("model name");
  return name.empty() ? "cpu" : name;
}

Device NominalProcessor() {
  Device device;
  device.id = "host";
  device.name = ProcessorName();
  device.generation = Generation::kHost;
  device.multiprocessors = 1;
  device.boost_clock_hz = BoostClockHz();
  device.vector_peak = FlopRate(2e10);
  device.peak.fill(device.vector_peak);
  const auto pages = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES));
  device.memory = Bytes(pages * sysconf(_SC_PAGESIZE));
  device.memory_bandwidth = Bandwidth(1e10);
  const int64_t cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
  device.l2 = Bytes(cache > 0 ? cache : 1 << 20);
  return device;
}

Device MeasureProcessor(HostOps& ops) {
  Device device = NominalProcessor();
  double fastest = 0;
  for (const int size : kProducts) {
    const Op op = Op::Gemm(DType::kFp32, size, size, size);
    fastest = std::max(fastest, op.Flops().count() * RunsPerSecond(ops, op));
  }
  device.vector_peak = FlopRate(fastest);
  device.peak.fill(device.vector_peak);
  device.memory_bandwidth = Bandwidth(static_cast<double>(kStreamed.count()) *
                                      RunsPerSecond(ops, Op::Elementwise(kStreamed)));
  return device;
}

}  // namespace stagecraft
