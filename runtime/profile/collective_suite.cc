#include "runtime/profile/collective_suite.h"

#include <string>
#include <unordered_set>

#include "costmodel/collectives.h"

namespace stagecraft {
namespace {

constexpr int64_t kLeast = int64_t{1} << 10, kMost = int64_t{1} << 30;
constexpr int64_t kPack = 16;
// Each device needs a buffer to send from and one to receive in.
constexpr int64_t kBuffers = 2, kShareOfMemory = 2;

}  // namespace

std::vector<ProfileCase> MakeCollectiveSuite(const CollectiveSuiteOptions& options) {
  std::vector<ProfileCase> suite;
  std::unordered_set<ProfileCase> seen;
  const int64_t step = options.size == SuiteSize::kFull ? 2 : 4;
  for (const Fabric& group : options.groups) {
    for (const Collective& collective : Collectives()) {
      const bool is_pair = collective.IsMessage() && group.ranks == 2;
      for (int64_t wanted = kLeast; wanted <= kMost; wanted *= step) {
        const int64_t bytes = wanted / (kPack * group.ranks) * (kPack * group.ranks);
        if (bytes == 0 || kBuffers * bytes > options.memory.count() / kShareOfMemory) continue;
        Op op = Op::Collective(collective.kind, Bytes(bytes), is_pair ? options.pair : group);
        ProfileCase one{std::move(op), std::string(kNccl)};
        if (seen.insert(one).second) suite.push_back(std::move(one));
      }
    }
  }
  return suite;
}

}  // namespace stagecraft
