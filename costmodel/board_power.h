// Board power: the clock at which a GPU can work for long without drawing more than its board
// power.
//
//   power = still + joules x (FLOP per clock) x clock^2.25
//   still = 20 W + 45 W for each TB/s of memory bandwidth
//
// The exponent says that a higher clock needs a higher voltage. `joules` depends on the process,
// on the number format, and on how wide the tensor cores are: wide ones reuse more of what they
// read. For less than about a millisecond a GPU may draw a third more than board power leaves for
// computing, so short kernels run at a higher clock than long ones.
//
// Where the rate of the best GEMMs was measured (Device::sustained_fraction), it gives the clock of
// short kernels, and power only says how much slower long ones are. A GPU that computes without
// pauses (Device::is_busy) runs kernels of any length at the clock of long ones. docs/cost-model.md
// says to which measurements the constants were fitted. The model covers NVIDIA's generations; on
// others, and on a board whose power is not known, the measured rate counts alone, or else the
// boost clock.
#pragma once

#include "costmodel/device.h"

namespace stagecraft {

// What a kernel of less than a millisecond may draw for computing, over what a long one may.
inline constexpr double kPowerHeadroom = 1.33;
// How long a kernel must be for half of the fall, in logarithms, from the one clock to the other.
inline constexpr double kSettlingSeconds = 1.2e-3;

struct PoweredClocks {
  double at_once = 0;    // Hz, of kernels much shorter than kSettlingSeconds
  double sustained = 0;  // Hz, of kernels much longer than that

  // Returns how long work takes that would take `seconds` at the clock `at_once`. Grows with it.
  double Slowed(double seconds) const;
};

// Returns the clocks of a device whose multiprocessors all compute in a number format. `energy`
// multiplies what an operation costs in energy, and `headroom` replaces kPowerHeadroom.
PoweredClocks ClocksOf(const Device& device, DType dtype, double energy = 1,
                       double headroom = kPowerHeadroom);

// Returns the clocks that the device has if it computes with pauses, whatever Device::is_busy says.
PoweredClocks ClocksWithPauses(const Device& device, DType dtype, double energy = 1,
                               double headroom = kPowerHeadroom);

// Returns the board power, in watts, at which all clocks that power limits are `share` of what they
// are, share in (0, 1].
double PowerAtClockShare(const Device& device, double share);

// Returns the FLOPs of one clock of the whole device. Tensor cores have a power of two of them on
// each multiprocessor, so the peak of a datasheet, which often counts another clock than the boost
// clock, is rounded to that if it is near.
double FlopPerClock(const Device& device, DType dtype);

// Returns the share of the peak of fp32 units that instructions can be issued for: two thirds on
// Kepler, whose four schedulers feed six groups of 32 lanes only if they find two independent
// instructions in a warp (NVIDIA, "Kepler GK110", 2012), and all of it on other generations.
double IssuedShare(Generation generation);

// Returns the share of the dense 16-bit peak that the best GEMMs reach, in (0, 1]: the measured
// one, or else that of short kernels at the clock which power allows.
double SustainedFraction(const Device& device);

// Returns the share of the boost clock at which the device computes in training, in 16 bits if it
// has a rate for them, in (0, 1].
double SustainedClock(const Device& device);

// Returns by how much the clock in training, in 16 bits if the device has a rate for them, rises if
// only this share of the multiprocessors computes; share in (0, 1]. It is 1 if power does not limit
// the clock.
double ClockGain(const Device& device, double share);

}  // namespace stagecraft
