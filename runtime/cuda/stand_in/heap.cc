#include "runtime/cuda/stand_in/heap.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft::stand_in {

void BreakContract(const std::string& sentence) {
  std::fprintf(stderr, "CUDA stand-in: %s\n", sentence.c_str());
  std::abort();
}

std::byte* Heap::Allocate(size_t bytes, Kind kind, bool is_alive) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(memory != MAP_FAILED);
  blocks_[Address(memory)] = {.bytes = bytes, .kind = kind, .is_alive = is_alive};
  return static_cast<std::byte*>(memory);
}

Heap::Block& Heap::Find(const void* memory) {
  const auto block = blocks_.find(Address(memory));
  if (block == blocks_.end()) BreakContract("what is freed was never allocated, or freed before");
  return block->second;
}

void Heap::GiveBack(const void* memory) {
  Block& block = Find(memory);
  if (std::exchange(block.is_given_back, true)) BreakContract("memory of a pool is freed twice");
}

void Heap::Release(const void* memory) {
  munmap(const_cast<void*>(memory), Find(memory).bytes);
  blocks_.erase(Address(memory));
}

const std::pair<const std::byte* const, Heap::Block>* Heap::Containing(const void* memory) const {
  auto after = blocks_.upper_bound(Address(memory));
  if (after == blocks_.begin()) return nullptr;
  const auto& block = *--after;
  return Address(memory) < block.first + block.second.bytes ? &block : nullptr;
}

bool Heap::IsPinned(const void* memory) const {
  const auto* const block = Containing(memory);
  return block != nullptr && block->second.kind == Kind::kPinned;
}

bool Heap::IsOfKind(const void* memory, Kind kind) const {
  const auto block = blocks_.find(Address(memory));
  return block != blocks_.end() && block->second.kind == kind;
}

const std::byte* Heap::BlockOf(const Range& range) const {
  const auto* const block = Containing(range.begin);
  const bool has_all =
      block != nullptr && range.begin + range.bytes <= block->first + block->second.bytes;
  return has_all ? block->first : nullptr;
}

bool Heap::IsAlive(const Range& range) const {
  const std::byte* const block = BlockOf(range);
  return block != nullptr && blocks_.at(block).is_alive;
}

std::vector<std::string> Heap::Leaks() const {
  std::vector<std::string> leaks;
  for (const auto& [memory, block] : blocks_) {
    if (block.is_given_back) continue;
    leaks.push_back(std::to_string(block.bytes) + " bytes of memory were not freed");
  }
  return leaks;
}

}  // namespace stagecraft::stand_in
