#include "costmodel/device_catalogue.h"

#include <cctype>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/hardware_proto.h"
#include "costmodel/nearest.h"
#include "costmodel/proto_file.h"
#include "data/embedded.h"

namespace stagecraft {
namespace {

constexpr char kEmbeddedName[] = "gpus.textproto";

std::string Folded(std::string_view name) {
  std::string folded(name);
  for (char& c : folded) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return folded;
}

void ReadUsableMemory(const DeviceEntryProto& proto, const std::string& place, DeviceEntry& entry) {
  constexpr int64_t kLeast = 100'000'000;  // as for memory_bytes
  entry.usable_memory = entry.device.memory;
  const int64_t usable = proto.usable_memory_bytes();
  if ((usable != 0) == proto.usable_memory_source().empty()) {
    throw InputError(place + ".usable_memory_source: got " +
                     (usable != 0 ? "none" : "one without usable_memory_bytes") +
                     ", want it if and only if usable_memory_bytes is given");
  }
  if (usable == 0) return;
  if (usable < kLeast || Bytes(usable) > entry.device.memory) {
    throw InputError(place + ".usable_memory_bytes: got " + std::to_string(usable) + ", want " +
                     std::to_string(kLeast) + " to the " +
                     std::to_string(entry.device.memory.count()) + " of device.memory_bytes");
  }
  entry.usable_memory = Bytes(usable);
  entry.usable_memory_source = proto.usable_memory_source();
}

DeviceEntry EntryFromProto(const DeviceEntryProto& proto, const std::string& place) {
  DeviceEntry entry;
  entry.device = DeviceFromProto(proto.device(), place + ".device");
  entry.aliases.assign(proto.aliases().begin(), proto.aliases().end());
  entry.reference_node = proto.reference_node();
  const auto refuse_negative = [&](const char* field, double value) {
    if (value >= 0) return;
    throw InputError(place + "." + field + ": got a negative number, want >= 0");
  };
  refuse_negative("tensor_clock_hz", proto.tensor_clock_hz());
  refuse_negative("fp16_flop_per_multiprocessor_clock", proto.fp16_flop_per_multiprocessor_clock());
  refuse_negative("fp32_flop_per_multiprocessor_clock", proto.fp32_flop_per_multiprocessor_clock());
  refuse_negative("pcie_generation", proto.pcie_generation());
  refuse_negative("scale_up_bytes_per_s", proto.scale_up_bytes_per_s());
  entry.tensor_clock_hz = proto.tensor_clock_hz();
  entry.fp16_flop_per_multiprocessor_clock = proto.fp16_flop_per_multiprocessor_clock();
  entry.fp32_flop_per_multiprocessor_clock = proto.fp32_flop_per_multiprocessor_clock();
  entry.pcie_generation = proto.pcie_generation();
  entry.scale_up = Bandwidth(proto.scale_up_bytes_per_s());
  entry.blocks_peer_access = proto.blocks_peer_access();
  ReadUsableMemory(proto, place, entry);
  entry.sustained_source = proto.sustained_source();
  entry.provenance = proto.provenance();
  entry.sources.assign(proto.sources().begin(), proto.sources().end());
  return entry;
}

}  // namespace

const DeviceCatalogue& DeviceCatalogue::Embedded() {
  static const DeviceCatalogue catalogue = Parse(std::string(EmbeddedGpus()), kEmbeddedName, ".pb");
  return catalogue;
}

DeviceCatalogue DeviceCatalogue::Parse(const std::string& text, const std::string& name,
                                       const std::string& extension) {
  DeviceCatalogueProto proto;
  ParseProtoText(text, name, extension, &proto);
  std::vector<DeviceEntry> entries;
  for (int i = 0; i < proto.devices_size(); ++i) {
    entries.push_back(
        EntryFromProto(proto.devices(i), name + ": devices[" + std::to_string(i) + "]"));
  }
  return DeviceCatalogue(std::move(entries), name);
}

DeviceCatalogue::DeviceCatalogue(std::vector<DeviceEntry> entries, const std::string& name)
    : entries_(std::move(entries)) {
  for (int i = 0; i < static_cast<int>(entries_.size()); ++i) {
    const auto claim = [&](const std::string& claimed, const std::string& key) {
      const auto [holder, is_new] = by_folded_name_.emplace(Folded(claimed), i);
      // One entry may list both "A100" and "a100".
      if (!claimed.empty() && (is_new || (holder->second == i && key != "device.id"))) return;
      throw InputError(name + ": devices[" + std::to_string(i) + "]." + key + ": got \"" + claimed +
                       "\", want a name that no other device has");
    };
    claim(entries_[i].device.id, "device.id");
    for (size_t a = 0; a < entries_[i].aliases.size(); ++a) {
      claim(entries_[i].aliases[a], "aliases[" + std::to_string(a) + "]");
    }
  }
}

const DeviceEntry* DeviceCatalogue::Find(std::string_view name) const {
  const auto found = by_folded_name_.find(Folded(name));
  if (found == by_folded_name_.end()) return nullptr;
  const DeviceEntry& entry = entries_[found->second];
  if (entry.device.id == name) return &entry;
  // Ids are matched in their own letter case, unless they are listed as an alias, too.
  for (const std::string& alias : entry.aliases) {
    if (Folded(alias) == found->first) return &entry;
  }
  return nullptr;
}

const DeviceEntry& DeviceCatalogue::Get(const std::string& name, const std::string& place) const {
  if (const DeviceEntry* entry = Find(name)) return *entry;
  std::vector<std::string> known;
  for (const DeviceEntry& entry : entries_) {
    known.push_back(entry.device.id);
    known.insert(known.end(), entry.aliases.begin(), entry.aliases.end());
  }
  const std::string suggestion = NearestNames(name, known);
  throw InputError(place + ": unknown GPU \"" + name + "\"" +
                   (suggestion.empty() ? ", want one of the catalogue" : "; " + suggestion));
}

Bytes UsableMemory(const Device& device) {
  const DeviceEntry* entry = DeviceCatalogue::Embedded().Find(device.id);
  const bool is_that_board = entry != nullptr && entry->device.memory == device.memory;
  return is_that_board ? entry->usable_memory : device.memory;
}

}  // namespace stagecraft
