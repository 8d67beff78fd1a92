// Makes clusters from YAML text, for tests of cluster files.
#pragma once

#include <string>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "proto/cluster.pb.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_proto.h"

namespace stagecraft {

inline Cluster ReadYamlCluster(const std::string& yaml) {
  ClusterProto proto;
  ParseProtoText(yaml, "c.yaml", ".yaml", &proto);
  return ClusterFromProto(proto, "c.yaml");
}

// Returns the error of a cluster file; "no error" if there is none.
inline std::string YamlClusterError(const std::string& yaml) {
  try {
    ReadYamlCluster(yaml);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace stagecraft
