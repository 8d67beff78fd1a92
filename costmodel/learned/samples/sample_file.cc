#include "costmodel/learned/samples/sample_file.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>

#include "costmodel/check.h"
#include "costmodel/learned/samples/csv_rows.h"
#include "costmodel/learned/samples/gzip.h"
#include "costmodel/learned/samples/importers.h"
#include "costmodel/learned/samples/sample_csv.h"
#include "costmodel/learned/samples/sample_proto.h"
#include "costmodel/nearest.h"
#include "costmodel/proto_file.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

namespace fs = std::filesystem;
using Columns = std::span<const std::string_view>;
using Header = std::span<const std::string>;

std::vector<TableFormat> Formats() {
  // Recognise() takes the first of two formats that fit a header equally well.
  std::vector<TableFormat> formats = {GemmTable(), SampleTable()};
  formats.insert(formats.end(), ThirdPartyTables().begin(), ThirdPartyTables().end());
  return formats;
}

int Present(Columns columns, Header header) {
  return static_cast<int>(std::count_if(columns.begin(), columns.end(), [&](std::string_view c) {
    return std::find(header.begin(), header.end(), c) != header.end();
  }));
}

// Returns the format that has more columns of the header than any other, if at most one column that
// it requires is missing; else a format without columns.
TableFormat Recognise(Header header) {
  TableFormat best = {};
  int most = 0;
  for (const TableFormat& format : Formats()) {
    const int required = Present(format.columns.first(format.required), header);
    const int all = Present(format.columns, header);
    if (required + 1 < format.required || all <= most) continue;
    best = format;
    most = all;
  }
  return best;
}

// Checks that every required column is present and, for a closed format, that there is no other.
void CheckHeader(const TableFormat& format, Header header, const std::string& path) {
  for (const std::string_view column : format.columns.first(format.required)) {
    if (std::find(header.begin(), header.end(), column) != header.end()) continue;
    throw InputError(
        fmt::format("{}:1: got no column \"{}\", want one, as in {}", path, column, format.name));
  }
  if (!format.is_closed) return;
  const std::vector<std::string> known(format.columns.begin(), format.columns.end());
  for (const std::string& column : header) {
    if (std::find(known.begin(), known.end(), column) != known.end()) continue;
    throw InputError(fmt::format("{}:1: got a column \"{}\", want those of {}; {}", path, column,
                                 format.name, NearestNames(column, known)));
  }
}

[[noreturn]] void RefuseHeader(Header header, const std::string& path) {
  const std::string names = Join(Formats(), ", ", &TableFormat::name);
  constexpr size_t kShown = 200;  // the file may be no text at all
  std::string columns = fmt::format("{}", fmt::join(header, ","));
  if (columns.size() > kShown) columns = columns.substr(0, kShown) + "...";
  throw InputError(
      fmt::format("{}:1: got the columns \"{}\", want those of one of: {}", path, columns, names));
}

void CheckOperands(const CsvRows& row, const Op& op) {
  if (Operands(op) <= kMostOperands) return;
  throw InputError(fmt::format("{}:{}: got {} elements in the operands of {}, want at most {}",
                               row.name(), row.line(), Operands(op), Describe(op), kMostOperands));
}

size_t CountLines(std::string_view text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Counts the rows of a table, its header not among them. The text may have more lines than rows,
// since a quoted field may contain line breaks and lines may be blank.
size_t CountRows(std::string_view text, const std::string& path) {
  CsvRows rows(text, path);
  size_t count = 0;
  while (rows.Next()) ++count;
  return count;
}

SampleFile ReadTable(std::string_view text, const std::string& path) {
  CsvRows row(text, path);
  const TableFormat format = Recognise(row.header());
  if (format.columns.empty()) RefuseHeader(row.header(), path);
  CheckHeader(format, row.header(), path);
  row.Select(format.columns);
  SampleFile file;
  file.format = format.name;
  const size_t lines = CountLines(text);
  if (lines > kMostSamples) CheckSampleCount(CountRows(text, path), path);
  file.samples.reserve(lines);
  while (row.Next()) {
    if (format.read(row, file.samples.emplace_back())) {
      CheckOperands(row, file.samples.back().op);
    } else {
      file.samples.pop_back();
      ++file.skipped;
    }
  }
  return file;
}

// Returns the number of fields with which a binary message begins, even if the rest is damaged;
// counts at most `most`.
size_t CountFields(std::string_view bytes, size_t most) {
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  size_t count = 0;
  while (count < most) {
    const uint32_t tag = stream.ReadTag();
    if (tag == 0 || !google::protobuf::internal::WireFormatLite::SkipField(&stream, tag)) break;
    ++count;
  }
  return count;
}

bool IsTablePath(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".csv") || name.ends_with(".csv.gz");
}

SampleFile ReadFolder(const std::string& path) {
  const std::vector<std::string> files = TablesIn(path);
  SampleFile all;
  all.format = fmt::format("{} files", files.size());
  for (const std::string& name : files) {
    SampleFile file = ReadSampleFile(name);
    all.skipped += file.skipped;
    CheckSampleCount(all.samples.size() + file.samples.size(), path);
    std::move(file.samples.begin(), file.samples.end(), std::back_inserter(all.samples));
  }
  return all;
}

}  // namespace

std::vector<std::string> TablesIn(const std::string& folder) {
  std::vector<std::string> files;
  try {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file() && IsTablePath(entry.path())) {
        files.push_back(entry.path().string());
      }
    }
  } catch (const fs::filesystem_error& error) {
    throw InputError(folder + ": cannot be listed, want a folder that can be read");
  }
  if (files.empty()) throw InputError(folder + ": got no .csv or .csv.gz in it, want at least one");
  std::sort(files.begin(), files.end());
  return files;
}

SampleFile ParseSamples(std::string_view bytes, const std::string& path) {
  fs::path inner(path);
  std::string unpacked;
  if (IsGzip(bytes)) {
    unpacked = Gunzip(bytes, path);
    bytes = unpacked;
    if (inner.extension() == ".gz") inner.replace_extension();
  }
  const std::string extension = inner.extension().string();
  if (!IsProtoExtension(extension)) return ReadTable(bytes, path);
  // Every sample is a field. Messages take many times the memory of their bytes, so they are
  // counted first.
  constexpr size_t kOtherFields = 1;  // the schema
  if (extension == ".pb") {
    const size_t fields = CountFields(bytes, kMostSamples + kOtherFields + 1);
    CheckSampleCount(fields - std::min(fields, kOtherFields), path);
  }
  SampleSetProto proto;
  ParseProtoText(std::string(bytes), path, extension, &proto);
  CheckSampleCount(static_cast<size_t>(proto.samples_size()), path);
  return {"samples", SamplesFromProto(proto, path), 0};
}

void CheckSampleCount(size_t samples, const std::string& path) {
  if (samples <= kMostSamples) return;
  throw InputError(
      fmt::format("{}: got more than {} samples in all, want fewer, of fewer shapes or GPU types",
                  path, kMostSamples));
}

SampleFile ReadSampleFile(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return ReadFolder(path);
  return ParseSamples(ReadFile(path), path);
}

std::vector<Sample> ReadSamples(const std::string& path) { return ReadSampleFile(path).samples; }

bool IsSampleTable(std::string_view bytes) {
  try {
    std::string unpacked;
    if (IsGzip(bytes)) unpacked = Gunzip(bytes, "");
    const std::string_view text = unpacked.empty() ? bytes : std::string_view(unpacked);
    return !Recognise(CsvRows(text.substr(0, text.find('\n')), "").header()).columns.empty();
  } catch (const InputError&) {
    return false;
  }
}

void WriteSamplesCsv(const std::string& path, std::span<const Sample> samples) {
  const std::string text = SamplesToCsv(samples, path);
  WriteFileAtomically(path, path.ends_with(".gz") ? Gzip(text) : text);
}

void WriteSamplesProto(const std::string& path, std::span<const Sample> samples) {
  const SampleSetProto proto = SamplesToProto(samples);
  const std::string extension = fs::path(path).extension().string();
  std::string text;
  if (extension == ".pb") {
    text = proto.SerializeAsString();
  } else if (extension == ".textproto") {
    google::protobuf::TextFormat::PrintToString(proto, &text);
  } else {
    throw InputError(
        fmt::format("{}: got extension \"{}\", want .textproto or .pb", path, extension));
  }
  WriteFileAtomically(path, text);
}

}  // namespace stagecraft
