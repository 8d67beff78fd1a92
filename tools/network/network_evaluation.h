// `evaluate --network`: reports how well the network model predicts measured collectives.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "tools/verb/command.h"

namespace stagecraft {

struct NetworkEvaluationFlags {
  Args files;
  std::string cluster;  // where the logs among the files were taken
  std::string split = "none";
  std::string cost_model;  // a network model in place of the shipped one
  int64_t least_bytes = 4096;
  int calibrate = 0;  // how many rows of each left-out site calibrate; 0: none
  uint64_t seed = 1;
  std::string max_error;
  bool json = false, quiet = false;
};

// Returns the exit code.
int RunNetworkEvaluation(const NetworkEvaluationFlags& flags, std::ostream& out, std::ostream& err);

}  // namespace stagecraft
