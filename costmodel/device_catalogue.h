// DeviceCatalogue: the known GPU types, which are found by id or by a listed alias.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/device.h"

namespace stagecraft {

struct DeviceEntry {
  Device device;
  std::vector<std::string> aliases;
  // The node type that "GPU:NxG" stands for; empty if there is none.
  std::string reference_node;
  // multiprocessors x this clock x operations per clock = fp16 peak; 0: not known.
  double tensor_clock_hz = 0;
  int fp16_flop_per_multiprocessor_clock = 0;
  // multiprocessors x boost clock x this = peak of vector units; 0: not known.
  int fp32_flop_per_multiprocessor_clock = 0;
  int pcie_generation = 0;  // of its 16 lanes; 0: not known
  Bandwidth scale_up;       // all links to other GPUs, one direction; zero: none known
  // Whether its driver keeps other GPUs from its memory over PCIe: messages then pass through host
  // memory.
  bool blocks_peer_access = false;
  // The memory that the driver leaves to programs; device.memory if nothing less is known.
  Bytes usable_memory;
  std::string usable_memory_source;  // empty if nothing less is known
  std::string sustained_source;      // what device.sustained_fraction rests on
  std::string provenance;
  std::vector<std::string> sources;
};

// Immutable; may be used from any thread.
class DeviceCatalogue {
 public:
  // Returns the catalogue in the binary, which is read at the first call.
  static const DeviceCatalogue& Embedded();
  // Reads a DeviceCatalogueProto in any format; `name` and `extension` are those of
  // ParseProtoText(). Throws InputError, also for a name that two entries claim.
  static DeviceCatalogue Parse(const std::string& text, const std::string& name,
                               const std::string& extension);

  // Finds an entry by its id, or by an alias regardless of letter case; never by substring. Returns
  // nullptr if there is none.
  const DeviceEntry* Find(std::string_view name) const;
  // The same, but throws InputError with the nearest names for an unknown name. `place` opens the
  // sentence: "--cluster", "cluster.yaml: node_groups[0].device".
  const DeviceEntry& Get(const std::string& name, const std::string& place) const;

  std::span<const DeviceEntry> entries() const { return entries_; }

 private:
  explicit DeviceCatalogue(std::vector<DeviceEntry> entries, const std::string& name);

  std::vector<DeviceEntry> entries_;
  std::map<std::string, int, std::less<>> by_folded_name_;
};

// Returns the memory that programs can have of a device: what the catalogue says of a board with
// this id and as much memory, else all of it. A file that gives a board another memory means what
// it says.
Bytes UsableMemory(const Device& device);

}  // namespace stagecraft
