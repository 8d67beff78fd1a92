#include "costmodel/gradient_sync.h"

namespace stagecraft {

const char* Name(SyncMethod method) {
  constexpr const char* kNames[kSyncMethodCount] = {"all-reduce",
                                                    "ring",
                                                    "tree",
                                                    "hierarchical",
                                                    "parameter-server",
                                                    "sharded-parameter-server",
                                                    "rolling-server",
                                                    "gossip",
                                                    "reduction-server",
                                                    "byteps"};
  return kNames[static_cast<int>(method)];
}

}  // namespace stagecraft
