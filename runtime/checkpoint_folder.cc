#include "runtime/checkpoint_folder.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-", kPartial = ".partial";

// How a file begins; the numbers of the state follow.
struct Header {
  std::array<char, 8> format = {'S', 't', 'a', 'g', 'e', 'c', 'r', '1'};
  uint64_t run = 0;
  int64_t ranks = 0, rank = 0, step = 0;
  int64_t updates = 0, position = 0;
  uint64_t values = 0;  // how many
  uint64_t hash = 0;    // of the values

  bool IsOf(const Header& wanted) const {
    return format == wanted.format && run == wanted.run && ranks == wanted.ranks &&
           rank == wanted.rank && step == wanted.step;
  }
};

[[noreturn]] void Fail(const fs::path& path) {
  throw std::runtime_error(fmt::format("{}: {}", path.string(), std::strerror(errno)));
}

// An open file or folder.
class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags)
      : path_(path), number_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;

  bool IsOpen() const { return number_ >= 0; }

  void Write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t count = write(number_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) Fail(path_);
      bytes = bytes.subspan(static_cast<size_t>(count));
    }
  }
  // Returns false if the file ends before.
  bool Read(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t count = read(number_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) Fail(path_);
      if (count == 0) return false;
      bytes = bytes.subspan(static_cast<size_t>(count));
    }
    return true;
  }
  // Waits until everything is on the disk.
  void Sync() {
    if (fsync(number_) != 0) Fail(path_);
  }

 private:
  const fs::path& path_;
  const int number_;
};

void SyncFolder(const fs::path& path) {
  Descriptor folder(path, O_RDONLY | O_DIRECTORY);
  if (!folder.IsOpen()) Fail(path);
  folder.Sync();
}

std::string NameOf(int64_t step) { return fmt::format("{}{}", kPrefix, step); }

// Returns the steps of a checkpoint of that name; no value for names of something else.
std::optional<int64_t> StepsOf(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  const std::optional<int64_t> steps = ParseNumber<int64_t>(name);
  return steps && *steps >= 0 && std::to_string(*steps) == name ? steps : std::nullopt;
}

// Calls visit(path, steps, whether it is complete) for each checkpoint in a folder.
template <typename Visit>
void VisitCheckpoints(const fs::path& folder, const Visit& visit) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.is_directory(error)) continue;
    const std::string file_name = entry.path().filename().string();
    std::string_view name = file_name;
    const bool is_partial = name.ends_with(kPartial);
    if (is_partial) name.remove_suffix(kPartial.size());
    const std::optional<int64_t> steps = StepsOf(name);
    if (steps) visit(entry.path(), *steps, !is_partial);
  }
}

std::optional<int64_t> LatestIn(const fs::path& folder) {
  std::optional<int64_t> latest;
  VisitCheckpoints(folder, [&](const fs::path&, int64_t steps, bool is_complete) {
    if (is_complete) latest = std::max(latest.value_or(0), steps);
  });
  return latest;
}

void RemoveAllBut(const fs::path& kept, const fs::path& folder) {
  std::vector<fs::path> others;
  VisitCheckpoints(folder, [&](const fs::path& path, int64_t, bool) {
    if (path != kept) others.push_back(path);
  });
  std::error_code error;
  for (const fs::path& other : others) fs::remove_all(other, error);
}

Header HeaderOf(const CheckpointFolder::Owner& owner, int64_t step, int rank) {
  Header header;
  header.run = owner.run;
  header.ranks = owner.ranks;
  header.rank = rank;
  header.step = step;
  return header;
}

}  // namespace

fs::path CheckpointFolder::File(int64_t step, int rank) const {
  return path_ / NameOf(step) / fmt::format("rank-{}", rank);
}

void CheckpointFolder::Write(int64_t step, int rank, const TrainingState& state) const {
  const fs::path folder = path_ / (NameOf(step) + std::string(kPartial));
  std::error_code error;
  fs::create_directory(folder, error);  // unless another rank was quicker
  const fs::path path = folder / fmt::format("rank-{}", rank);
  Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.IsOpen()) Fail(path);
  Header header = HeaderOf(owner_, step, rank);
  header.updates = state.progress().updates;
  header.position = state.progress().position;
  header.values = state.values().size();
  header.hash = HashOf(state.values());
  file.Write(std::as_bytes(std::span(&header, 1)));
  file.Write(std::as_bytes(state.values()));
  file.Sync();
}

void CheckpointFolder::Complete(int64_t step) const {
  const fs::path complete = path_ / NameOf(step);
  const fs::path partial = complete.string() + std::string(kPartial);
  SyncFolder(partial);
  std::error_code error;
  fs::remove_all(complete, error);  // the same state, written before
  if (std::rename(partial.c_str(), complete.c_str()) != 0) Fail(partial);
  SyncFolder(path_);
  RemoveAllBut(complete, path_);
}

bool CheckpointFolder::Read(int64_t step, int rank, TrainingState& state) const {
  const fs::path path = File(step, rank);
  Descriptor file(path, O_RDONLY);
  Header header;
  std::span<float> values = state.values();
  const bool is_whole =
      file.IsOpen() && file.Read(std::as_writable_bytes(std::span(&header, 1))) &&
      header.IsOf(HeaderOf(owner_, step, rank)) && header.values == values.size() &&
      file.Read(std::as_writable_bytes(values)) && header.hash == HashOf(state.values());
  if (is_whole) state.Resume({header.updates, header.position});
  return is_whole;
}

std::optional<int64_t> CheckpointFolder::Latest() const {
  const std::optional<int64_t> latest = LatestIn(path_);
  if (!latest) return std::nullopt;
  for (int rank = 0; rank < owner_.ranks; ++rank) {
    const fs::path path = File(*latest, rank);
    Descriptor file(path, O_RDONLY);
    Header header;
    if (!file.IsOpen() || !file.Read(std::as_writable_bytes(std::span(&header, 1))) ||
        !header.IsOf(HeaderOf(owner_, *latest, rank))) {
      throw InputError(
          fmt::format("{} is a checkpoint of another run, want an empty folder or one of this plan",
                      (path_ / NameOf(*latest)).string()));
    }
  }
  return latest;
}

void CheckpointFolder::CleanUp() const {
  const std::optional<int64_t> latest = LatestIn(path_);
  RemoveAllBut(latest ? path_ / NameOf(*latest) : fs::path(), path_);
}

}  // namespace stagecraft
