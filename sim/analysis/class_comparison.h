// ClassComparison: a predicted timeline and one that a profiler recorded, class by class of
// kernels. The tasks of the two need not be the same, as in timeline_comparison.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/time_pair.h"
#include "sim/schedule/kernel_profile.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline_record.h"

namespace stagecraft {

// Times are means over the devices that are compared. They are those of kernels and ops by
// themselves, so that the times of classes that run side by side may add up to more than the step.
struct ClassRow {
  KernelClass kind = KernelClass::kOther;
  double predicted_ops = 0, measured_kernels = 0;  // of a device
  TimePair time;
  Duration waits;  // of the measured time: of collectives for their slowest rank
};

struct PhaseRow {
  std::optional<Phase> phase;  // no value: kernels around which no name tells it
  TimePair time;
};

// What a layer took, as far as names tell the layer. Predictions do not know layers apart.
struct LayerRow {
  int32_t layer = -1;
  Duration forward, backward;
};

// Kernels of one name.
struct NamedKernels {
  std::string name;
  KernelClass kind = KernelClass::kOther;
  double kernels = 0;
  Duration time;
};

struct ClassComparison {
  TimePair step;
  TimePair idle;  // in which nothing runs on a device, from the start to the end of the step
  std::vector<ClassRow> classes;              // that occur on either side, in their order
  std::vector<PhaseRow> phases;               // the same
  std::vector<LayerRow> layers;               // in order
  std::vector<NamedKernels> never_predicted;  // of classes without predicted ops, longest first
  std::vector<KernelClass> never_ran;         // predicted, but no kernel is of this class
  int predicted_micro_batches = 0, measured_micro_batches = 0;  // 0: nothing tells
  int predicted_devices = 0, measured_ranks = 0;
  // Whether the prediction is that of the recorded ranks alone; else the mean of all its devices.
  bool is_of_same_ranks = false;
};

// The class of a task that is measured as a whole: that of its ops, kPass if they are of several.
KernelClass WholeClassOf(const Schedule& schedule, TaskId task);

// Either timeline may be a recorded one or not; one that is not needs the times of ops, unless the
// other one has whole passes.
ClassComparison CompareClasses(const TimelineRecord& predicted, const TimelineRecord& measured);

}  // namespace stagecraft
