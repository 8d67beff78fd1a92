#include "runtime/host_processor.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>

#include "costmodel/op.h"

namespace stagecraft {
namespace {

constexpr int kProducts[] = {256, 512, 1024};  // m, n and k alike
constexpr double kSeconds = 0.5;               // that each op is run again and again

// How often an op is done in a second. The mean, not the best: what else a processor has to
// do, in a step it does too.
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

// A value of /proc/cpuinfo by its key, of the first processor; empty where there is none.
std::string ProcessorInfo(const std::string& key) {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

// The highest clock; where the kernel does not govern it, as of a virtual machine, the one it
// names.
double BoostClockHz() {
  double kilohertz = 0;
  std::ifstream("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq") >> kilohertz;
  if (kilohertz > 0) return kilohertz * 1e3;
  const double megahertz = std::strtod(ProcessorInfo("cpu MHz").c_str(), nullptr);
  return megahertz > 0 ? megahertz * 1e6 : 2e9;
}

}  // namespace

std::string ProcessorName() {
  const std::string name = ProcessorInfo("model name");
  return name.empty() ? "cpu" : name;
}

int ProcessorCount() {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) == 0) return CPU_COUNT(&usable);
  // More than the set has room for.
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
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
  device.memory_bandwidth = Bandwidth(static_cast<double>(kStreamedBlock.count()) *
                                      RunsPerSecond(ops, Op::Elementwise(kStreamedBlock)));
  return device;
}

}  // namespace stagecraft
