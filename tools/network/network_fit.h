// `fit --network`: fits a network model to measured collectives, or adapts the shipped one to the
// logs of a site.
#pragma once

#include <iosfwd>
#include <string>

#include "tools/verb/command.h"

namespace stagecraft {

struct NetworkFitFlags {
  Args files;
  std::string cluster;  // if given: the site of the logs, which becomes the model's home site
  std::string output;
  bool json = false, quiet = false;
};

// Returns the exit code.
int RunNetworkFit(const NetworkFitFlags& flags, std::ostream& out, std::ostream& err);

}  // namespace stagecraft
