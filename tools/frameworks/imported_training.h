// ImportedTraining: what the options of a training framework say, in our terms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/plan.pb.h"
#include "sim/cluster/cluster.h"
#include "sim/workload/networks/decoder.h"
#include "tools/frameworks/launch_options.h"
#include "tools/frameworks/option_reader.h"

namespace stagecraft {

// What the files of a framework leave open.
struct TrainingWishes {
  std::string model;                 // as --model takes it; empty: as the files say
  int64_t sequence = 0;              // tokens; 0: as the files say
  int64_t global_batch = 0;          // samples; 0: as the files say
  int64_t vocabulary = 0;            // 0: as the files say
  std::string recompute;             // a word of --recompute; empty: as the files say
  double host_memory_gib = 0;        // of a node, for what is offloaded
  const Cluster* cluster = nullptr;  // null: not given
  std::string software_date;         // a month, or empty: now
};

// How the layers are divided if degrees cannot say it: layers of every part of the pipeline in
// execution order, with the embedding and the head.
struct PartedLayers {
  std::vector<int> counts;
  std::string place;  // of the option that says so
};

struct ImportedTraining {
  // The network: a configuration that the options spell out, or what --model takes; at most one.
  std::optional<DecoderConfig> network;
  std::string model;
  // The plan has `degrees`, and among them data parallelism only if the number of processes is
  // known.
  PlanProto plan;
  std::optional<PartedLayers> parts;
  std::string stack;               // an id of data/stacks.textproto
  std::vector<std::string> flags;  // of simulate, besides --model, --cluster, --plan and --stack
  ProcessCount processes;
  OptionReport options;
  std::vector<std::string> notes;  // on what had to be assumed
};

}  // namespace stagecraft
