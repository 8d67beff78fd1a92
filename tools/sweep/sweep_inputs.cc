#include "tools/sweep/sweep_inputs.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "costmodel/proto_file.h"
#include "data/embedded.h"
#include "tools/study/point_files.h"
#include "tools/verb/command.h"
#include "tools/verb/report_header.h"

namespace stagecraft {

std::string BuiltInDataHash() {
  std::string hashes;
  for (const std::string_view name : EmbeddedFileNames()) {
    hashes += std::string(name) + " " + Sha256(std::string(EmbeddedFile(name))) + "\n";
  }
  hashes += Sha256(std::string(EmbeddedCostModel())) + "\n";
  hashes += Sha256(std::string(EmbeddedNetworkModel())) + "\n";
  return Sha256(hashes);
}

SweepInputs::SweepInputs(const Grid& grid) {
  std::map<std::string, std::string> hashes;  // by path
  for (const GridAxis& axis : grid.axes()) {
    if (!axis.takes_text) continue;
    for (const std::string& value : axis.values) {
      for (const std::string& file : FilesNamedBy(value)) {
        if (hashes.count(file) == 0) hashes[file] = Sha256(ReadFile(file));
        std::string& lines = files_[value];
        const std::string line = file + " " + hashes[file] + "\n";
        if (lines.find(line) == std::string::npos) lines += line;
      }
    }
  }
  record_.tool_version = kToolVersion;
  record_.data_hash = BuiltInDataHash();
  record_.definition = grid.Definition();
  record_.files = nlohmann::ordered_json(hashes).dump(
      -1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  record_.points = grid.size();
  Seal(record_);
  head_ = std::string(Name(grid.verb())) + "\n" + kToolVersion + "\n" + record_.data_hash + "\n";
}

std::string SweepInputs::HashOf(const StudyPoint& point) const {
  std::string text = head_;
  for (const auto& [name, value] : point.flags) {
    text.append(name).append("=").append(value).append("\n");
    const auto files = files_.find(value);
    if (files != files_.end()) text += files->second;
  }
  return Sha256(text);
}

}  // namespace stagecraft
