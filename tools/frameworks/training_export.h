// TrainingExport: `export` of a plan to the files of training frameworks.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"
#include "tools/frameworks/framework_writer.h"

namespace stagecraft {

class TrainingExport {
 public:
  struct Format {
    const char* name;
    const char* framework;  // of the table: what can be written
    std::vector<std::string> extensions;
    const char* writes;
  };
  static const std::vector<Format>& Formats();
  // Returns null for a format that is no training framework.
  static const Format* Find(const std::string& name);
  // Returns the format of a framework of the table; null for one that no format starts.
  static const Format* FindFor(const std::string& framework);

  // Throws InputError that names the flag unless the path has one of the format's extensions.
  static void CheckPath(const Format& format, const std::string& flag, const std::string& path);

  // Returns the file for a plan. `model` is what --model names. Throws an InputError that names the
  // feature of the plan or of the network that the framework does not have.
  static LaunchText Write(const Format& format, const Plan& plan, const Workload& workload,
                          const Cluster& cluster, const std::string& model,
                          const std::string& path);
};

}  // namespace stagecraft
