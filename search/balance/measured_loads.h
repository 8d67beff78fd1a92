// MeasuredLoads(): what a profiling step says about the loads of layers.
#pragma once

#include <cstdint>
#include <vector>

namespace stagecraft {

// Returns each load times exp(sigma z), z drawn from the standard normal distribution for this seed
// and layer: measured times, whose median is the truth. sigma >= 0 is the standard deviation of the
// logarithm of a measurement.
std::vector<double> MeasuredLoads(const std::vector<double>& loads, double sigma, uint64_t seed);

}  // namespace stagecraft
