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

// Returns the timer of a device: "cuda:1" is the second CUDA device, "cuda" the first, "host" a
// CPU. If `part` names parts of a GPU, the timer runs on one of them, and the device must be a GPU.
// Throws InputError for another name, for a device that is not there and for a kind of device that
// this build cannot measure.
std::unique_ptr<OpTimer> MakeOpTimer(const std::string& device, const GpuPart& part = {});

// A device of a cluster that import local-gpu --parts made: all its devices are parts of one GPU.
// PartOfCluster() returns the device `number`, counted from 0; it throws InputError for another
// cluster, whose error begins with `place`, and for a device that the cluster does not have.
struct NamedPart {
  Device device;
  GpuPart part;
};
NamedPart PartOfCluster(const Cluster& cluster, int number, const std::string& place);

// Whether `device` names several devices of this host, as in "cuda:0,1,3", to measure collectives
// between them.
bool NamesSeveral(const std::string& device);

struct DeviceGroup {
  std::unique_ptr<OpTimer> timer;
  Cluster cluster;  // a node with these devices
};
// Throws InputError as MakeOpTimer() does, and also for a device named twice and for devices of
// several types. `gpu` is their id in the catalogue if their name does not say it.
DeviceGroup OpenDeviceGroup(const std::string& device, const std::string& gpu);

// Returns the tracer that watches kernels on the device. Must be called after MakeOpTimer(), which
// finds the device. Throws InputError as MakeOpTimer() does.
std::unique_ptr<KernelTracer> MakeKernelTracer(const std::string& device);

}  // namespace stagecraft
