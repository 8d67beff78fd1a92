// NetworkSample: one measured collective of one group of ranks.
#pragma once

#include <optional>
#include <string>

#include "costmodel/collective_model.h"
#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {

// What was timed: the collective, as by nccl-tests; its kernel, by a profiler inside a framework;
// or a framework's call, which contains the host's launch.
enum class Timing { kCollective, kKernel, kFramework };
const char* Name(Timing timing);

struct NetworkSample {
  Op op;             // a collective; its fabric is nominal, this group's share of it
  std::string gpu;   // id in the device catalogue
  std::string node;  // id in the node catalogue; empty: not in it
  std::string site;  // machines, network and software that are one: their times can be compared
  Timing timing = Timing::kCollective;
  bool copies_lists = false;  // whether the time has copies between a list and a flat buffer
  // False if no source says what joins the nodes: `inter` is then a guess that bounds nothing.
  bool is_network_stated = true;
  // How many groups ran at the same time, with consecutive ranks `stride` apart in the order of the
  // nodes; `sharing` of them used the interfaces of each node.
  int groups = 1;
  int stride = 1;
  int sharing = 1;
  std::optional<Algorithm> forced;  // not NCCL's own choice
  Duration time;                    // of one operation
  int repeat = 0;                   // 0, 1, ...: number of the run of the same point
  std::string dtype;                // as the source writes it: "fp16"
  std::string system;               // the source's own name of machine or file
  std::string software;             // "nccl-2.27.3"
  std::string source;               // who measured it
  friend bool operator==(const NetworkSample&, const NetworkSample&) = default;
};

// Returns the bus bandwidth as nccl-tests counts it: the buffer's bytes over the time, times the
// collective's bus factor.
Bandwidth BusBandwidth(const Op& op, Duration time);

// Returns "2x16x1x1": nodes, ranks, groups and stride.
std::string GroupLabel(const NetworkSample& sample);

}  // namespace stagecraft
