// Reports what may have slowed down measured steps: the clocks, power and heat of GPUs, and a host
// that had not yet queued a step when devices began it.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "sim/schedule/timeline_record.h"

namespace stagecraft {

// Returns a sentence that says how many steps were queued in time; empty if that is not known.
std::string QueuedInWords(const Measurement& measurement);

// Returns false if devices began every step before it was queued, so that the step time is no
// median of steps that were queued in time. If nothing is known about queueing, returns true.
bool HasMedian(const Measurement& measurement);

// Prints a table with a row for each run of adjacent ranks with equal readings, each row behind
// `indent`.
void PrintGpus(std::span<const GpuReadings> gpus, const std::string& indent, std::ostream& out);

// Adds what is known: late_steps, queued_late_ms, step_time_is_median and GPUs. In the latter a
// value that no sensor reported is null. `throttled` is a share from 0 to 1; other units are in the
// keys.
void AddCircumstances(const Measurement& measurement, nlohmann::ordered_json* json);

}  // namespace stagecraft
