// fit --network: measured collectives become a network model, or the logs of a
// site adapt the shipped one.
#pragma once

#include <iosfwd>
#include <string>

#include "tools/verb/command.h"

namespace stagecraft {

struct NetworkFitFlags {
  Args files;
  std::string cluster;  // given: the files are of this site, and the model is at home there
  std::string output;
  bool json = false, quiet = false;
};

// Returns the exit code.
int RunNetworkFit(const NetworkFitFlags& flags, std::ostream& out, std::ostream& err);

}  // namespace stagecraft
