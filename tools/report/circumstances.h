// What may have made measured steps slower than their devices are: clocks, power and heat of
// GPUs, and steps that the host had not queued when devices began them.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "sim/schedule/timeline_record.h"

namespace stagecraft {

// How many steps were queued in time, a sentence; empty where nobody knows.
std::string QueuedInWords(const Measurement& measurement);

// Whether the step's time is the median of steps that were queued in time, as it is where nobody
// knows; false where devices had begun every step before it was queued.
bool HasMedian(const Measurement& measurement);

// A row for each run of ranks whose GPUs read alike, `indent` first.
void PrintGpus(std::span<const GpuReadings> gpus, const std::string& indent, std::ostream& out);

// Adds what is known: late_steps, queued_late_ms, step_time_is_median and GPUs, in which null is
// what no sensor said. `throttled` is a share, from 0 to 1; other units are in the keys.
void AddCircumstances(const Measurement& measurement, nlohmann::ordered_json* json);

}  // namespace stagecraft
