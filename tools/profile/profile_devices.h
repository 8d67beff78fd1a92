// The devices that `profile` can measure, by the first word of their names.
#pragma once

#include <memory>
#include <string>

#include "costmodel/device.h"
#include "runtime/cuda/cuda_timer.h"
#include "runtime/profile/kernel_trace.h"
#include "runtime/profile/op_timer.h"
#include "sim/cluster/cluster.h"

namespace stagecraft {

// "cuda:1" is the second CUDA device, "cuda" the first, "host" a processor. Throws InputError
// for another name, for a device that is not there and for a kind that this build cannot measure.
// With parts it is one of them, of a GPU alone.
std::unique_ptr<OpTimer> MakeOpTimer(const std::string& device, const BoardPart& part = {});

// Device `number`, from 0, of a cluster that import local-gpu --parts made, whose devices are parts
// of one board. Throws InputError for another cluster, and for a device that it has not.
struct NamedPart {
  Device device;
  BoardPart part;
};
NamedPart PartOfCluster(const Cluster& cluster, int number, const std::string& place);

// "cuda:0,1,3": several devices of this host, for what goes on between them.
bool NamesSeveral(const std::string& device);

struct DeviceGroup {
  std::unique_ptr<OpTimer> timer;
  Cluster cluster;  // a node of these devices
};
// Throws likewise, also for a device named twice and devices of several kinds; `gpu` is what they
// are in the catalogue, where their name does not say it.
DeviceGroup OpenDeviceGroup(const std::string& device, const std::string& gpu);

// What watches kernels there; after the timer, which finds the device. Likewise.
std::unique_ptr<KernelTracer> MakeKernelTracer(const std::string& device);

}  // namespace stagecraft
