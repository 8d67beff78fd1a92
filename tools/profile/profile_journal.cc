#include "tools/profile/profile_journal.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstdint>
#include <filesystem>
#include <stdexcept>

#include "costmodel/check.h"
#include "costmodel/learned/samples/sample_csv.h"
#include "costmodel/learned/samples/sample_file.h"
#include "costmodel/learned/samples/sample_proto.h"
#include "costmodel/proto_file.h"
#include "proto/sample.pb.h"

namespace stagecraft {
namespace {

bool IsProto(const std::string& path) { return path.ends_with(".pb"); }

// The beginning of every file: the header of a table, or the schema of a set.
std::string Beginning(const std::string& path) {
  return IsProto(path) ? SamplesToProto({}).SerializeAsString() : SamplesToCsv({}, path);
}

// Returns how many bytes at the beginning are complete records: of a SampleSetProto if `is_proto`,
// else of a table.
size_t WholeRecords(const std::string& bytes, bool is_proto) {
  if (!is_proto) return bytes.rfind('\n') + 1;  // npos + 1 is 0
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  size_t whole = 0;
  while (const uint32_t tag = stream.ReadTag()) {
    if (!google::protobuf::internal::WireFormatLite::SkipField(&stream, tag)) break;
    whole = static_cast<size_t>(stream.CurrentPosition());
  }
  return whole;
}

}  // namespace

ProfileJournal::ProfileJournal(const std::string& path, bool resumes) : path_(path) {
  const std::string beginning = Beginning(path);
  const bool is_there = std::filesystem::exists(path);
  if (is_there && !resumes) {
    throw InputError("-o: got " + path + ", want a new file, or --resume");
  }
  std::string bytes = is_there ? ReadFile(path) : "";
  if (!beginning.starts_with(bytes.substr(0, beginning.size()))) {
    throw InputError("-o: got " + path +
                     ", which holds something else, want a file that profile wrote");
  }
  bytes.resize(WholeRecords(bytes, IsProto(path)));
  if (bytes.size() > beginning.size()) samples_ = ParseSamples(bytes, path).samples;
  if (is_there) std::filesystem::resize_file(path, bytes.size());
  file_.open(path, std::ios::binary | std::ios::app);
  if (bytes.empty()) Write(beginning);
}

void ProfileJournal::Append(const Sample& sample) {
  if (IsProto(path_)) return Write(SamplesToProto({&sample, 1}).SerializeAsString());
  const std::string table = SamplesToCsv({&sample, 1}, path_);
  Write(table.substr(table.find('\n') + 1));
}

void ProfileJournal::Write(const std::string& bytes) {
  file_ << bytes;
  file_.flush();
  if (!file_) throw std::runtime_error(path_ + " could not be written");
}

}  // namespace stagecraft
