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

// "cuda:1" is the second CUDA device, "cuda" the first, "host" a CPU. Throws InputError for another
// name, for a device that is not there and for a kind of device that this build cannot measure.
// With parts it is one of them, and the device must be a GPU.
std::unique_ptr<OpTimer> MakeOpTimer(const std::string& device, const GpuPart& part = {});

// Device `number`, from 0, of a cluster that import local-gpu --parts made, whose devices are parts
// of one GPU. Throws InputError for another cluster, and for a device that the cluster does not
// have.
struct NamedPart {
  Device device;
  GpuPart part;
};
NamedPart PartOfCluster(const Cluster& cluster, int number, const std::string& place);

// Whether it names several devices of this host, as in "cuda:0,1,3", for what goes on between them.
bool NamesSeveral(const std::string& device);

struct DeviceGroup {
  std::unique_ptr<OpTimer> timer;
  Cluster cluster;  // a node of these devices
};
// Throws in the same way, also for a device named twice and for devices of several types; `gpu` is
// their id in the catalogue, if their name does not tell it.
DeviceGroup OpenDeviceGroup(const std::string& device, const std::string& gpu);

// Makes the tracer that watches kernels on the device; to be called after the timer is made, which
// finds the device. Throws in the same way.
std::unique_ptr<KernelTracer> MakeKernelTracer(const std::string& device);

}  // namespace stagecraft
