#include "runtime/cuda/part_sizes.h"

#include <fmt/core.h>

#include <cstdint>
#include <numeric>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

void CheckCount(const GpuGroups& gpu, int parts, const std::string& place) {
  if (parts >= 1 && parts <= gpu.groups) return;
  throw InputError(
      fmt::format("{}: got {} parts, want 1 to {}, as the GPU has groups of {} multiprocessors",
                  place, parts, gpu.groups, gpu.group_size));
}

}  // namespace

std::vector<PartGroups> ShareGroups(const GpuGroups& gpu, std::span<const int> parts,
                                    const std::string& place) {
  std::vector<PartGroups> shared;
  int next = 0;
  bool is_rest_taken = false;
  for (const int part : parts) {
    PartGroups own{.first = next};
    own.has_rest = part % gpu.group_size != 0 && !is_rest_taken;
    const int whole = own.has_rest ? part - gpu.rest : part;
    own.count = whole / gpu.group_size;
    if (whole <= 0 || own.count == 0 || whole % gpu.group_size != 0) {
      const std::string rest =
          gpu.rest == 0 ? "" : fmt::format(", and for one part also the {} left over", gpu.rest);
      throw InputError(fmt::format("{}: got a part of {} multiprocessors, want multiples of {}{}",
                                   place, part, gpu.group_size, rest));
    }
    is_rest_taken = is_rest_taken || own.has_rest;
    next += own.count;
    shared.push_back(own);
  }
  if (next > gpu.groups) {
    throw InputError(fmt::format(
        "{}: got parts of {} multiprocessors together, want at most the {} of the GPU, of which "
        "{} in groups of {}",
        place, std::accumulate(parts.begin(), parts.end(), 0), gpu.multiprocessors(),
        gpu.groups * gpu.group_size, gpu.group_size));
  }
  return shared;
}

std::vector<int> PartsByShares(const GpuGroups& gpu, std::span<const int> shares,
                               const std::string& place) {
  CheckCount(gpu, static_cast<int>(shares.size()), place);
  for (const int share : shares) {
    if (share < 1)
      throw InputError(fmt::format("{}: got a share of {}, want 1 or more", place, share));
  }
  std::vector<int64_t> groups(shares.size(), 1);
  // By Jefferson's rule, the next group goes to the part that would have the fewest groups per
  // share with it, so that a larger share never gets fewer groups.
  for (auto left = static_cast<size_t>(gpu.groups) - shares.size(); left > 0; --left) {
    size_t next = 0;
    for (size_t part = 1; part < shares.size(); ++part) {
      if ((groups[part] + 1) * shares[next] < (groups[next] + 1) * shares[part]) next = part;
    }
    ++groups[next];
  }
  std::vector<int> parts;
  for (const int64_t count : groups) parts.push_back(static_cast<int>(count) * gpu.group_size);
  size_t largest = 0;
  for (size_t part = 1; part < parts.size(); ++part) {
    if (std::pair(parts[part], shares[part]) >= std::pair(parts[largest], shares[largest])) {
      largest = part;
    }
  }
  parts[largest] += gpu.rest;
  return parts;
}

int EqualPart(const GpuGroups& gpu, int parts, const std::string& place) {
  CheckCount(gpu, parts, place);
  return gpu.groups / parts * gpu.group_size;
}

}  // namespace stagecraft
