#include "runtime/run_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace stagecraft {

void RunLog::Append(const LogEntry& entry) const {
  const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const bool is_written = file >= 0 && write(file, &entry, sizeof entry) == sizeof entry;
  if (file >= 0) close(file);
  if (!is_written) throw std::runtime_error(path_ + " cannot be written");
}

std::vector<LogEntry> RunLog::Read() const {
  std::vector<LogEntry> entries;
  std::ifstream file(path_, std::ios::binary);
  for (LogEntry entry; file.read(reinterpret_cast<char*>(&entry), sizeof entry);) {
    entries.push_back(entry);
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const LogEntry& a, const LogEntry& b) { return a.time < b.time; });
  return entries;
}

}  // namespace stagecraft
