// The output of nccl-tests before it is checked; text and JSON both lead to it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "costmodel/network/nccl_tests_log.h"

namespace stagecraft {

struct NcclTestsOutput {
  // The values that are printed beside a time.
  struct Printed {
    std::string place;  // "ar.log:17", "ar.json: results[3]"
    double algorithm_gb_per_s = 0;
    double bus_gb_per_s = 0;
    bool reduces = false;  // it sums up, and more than one rank gets the sum
  };
  NcclTestsLog log;              // without its kind
  std::vector<Printed> printed;  // by row
  std::string program;           // the name of the program; empty if it is not stated
  int gpus_per_process = 1;
};

// Throws the InputError "PLACE: key: got "...", want ...", cut to a readable length.
[[noreturn]] void FailNcclTests(const std::string& place, std::string_view key,
                                std::string_view got, std::string_view want);

// Adds a row; `size`, `microseconds` and the bandwidths are numbers in range. A row of no bytes is
// left out. `type` is the name that nccl-tests uses.
void AddNcclTestsRow(double size, double microseconds, std::string_view type,
                     const NcclTestsOutput::Printed& printed, NcclTestsOutput* output);

// Reads a whole word as a number, "8" or "30.12", from `least` to `most`.
bool ReadNcclTestsNumber(std::string_view word, double least, double most, double* value);

inline constexpr double kMostNcclTestsBytes = 1e15;
inline constexpr double kLeastNcclTestsMicroseconds = 1e-3;
inline constexpr double kMostNcclTestsMicroseconds = 1e12;
inline constexpr double kMostNcclTestsGbPerS = 1e9;
inline constexpr int kMostGpusPerProcess = 1024;

NcclTestsOutput ReadNcclTestsText(std::string_view text, const std::string& path);
NcclTestsOutput ReadNcclTestsJson(std::string_view text, const std::string& path);

}  // namespace stagecraft
