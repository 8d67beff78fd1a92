// NetworkSample: one measured collective of one group of ranks.
#pragma once

#include <optional>
#include <string>

#include "costmodel/collective_model.h"
#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {

// What was timed. Inside a framework the host's launch is part of every time,
// and lists are copied to flat buffers; nccl-tests and profilers of kernels see
// the collective alone.
enum class Timing { kCollective, kFramework };

struct NetworkSample {
  Op op;             // a collective; its fabric is nominal, this group's share of it
  std::string gpu;   // id in the device catalogue
  std::string node;  // id in the node catalogue; empty: none that we list
  std::string site;  // machines, network and software that are one: times compare
  Timing timing = Timing::kCollective;
  // False where nobody says what joins the nodes: `inter` is then a guess that
  // bounds nothing.
  bool is_network_stated = true;
  // So many groups ran at the same time, consecutive ranks `stride` apart in
  // the order of the nodes; `sharing` of them used each node's interfaces.
  int groups = 1;
  int stride = 1;
  int sharing = 1;
  std::optional<Algorithm> forced;  // whatever NCCL would have chosen
  Duration time;                    // of one operation
  int repeat = 0;                   // 0, 1, ...: runs of the same point
  std::string dtype;                // as the source has it: "fp16"
  std::string system;               // the source's own name of machine or file
  std::string software;             // "nccl-2.27.3"
  std::string source;               // who measured it
  friend bool operator==(const NetworkSample&, const NetworkSample&) = default;
};

// As nccl-tests counts it: the buffer's bytes over the time, times the collective's bus factor.
Bandwidth BusBandwidth(const Op& op, Duration time);

// "2x16x1x1": nodes, ranks, groups and stride.
std::string GroupLabel(const NetworkSample& sample);

}  // namespace stagecraft
