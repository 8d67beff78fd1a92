// Compares logs of nccl-tests from a cluster with what the network model predicts for it.
#pragma once

#include <iosfwd>
#include <string>

#include "tools/verb/command.h"

namespace stagecraft {

struct NetworkLogs {
  Args files;              // the output of nccl-tests
  std::string cluster;     // the cluster on which they were taken
  std::string cost_model;  // the file of a network model; empty: the shipped one
};

// Prints a table, or the JSON of `compare --network --json`. The verdict on a measured time is "as
// predicted" if it is within the 80 % interval of the prediction or within 15 % of it; else it is
// "slower" or "faster".
void CompareNetwork(const NetworkLogs& logs, bool json, std::ostream& out);

}  // namespace stagecraft
