// Reads measured samples from any file that holds some, and writes them.
//
// The content decides the format: our own table (sample_csv.h), one of the
// third-party tables (importers.h), each told by its header line, or a
// SampleSetProto by the extension of its file (proto_file.h). Any of them may be
// gzipped. A folder stands for all its .csv and .csv.gz files, those in folders
// below included, in the order of their paths; other files there are passed over.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/learned/sample.h"

namespace stagecraft {

// The most that files together may hold: `fit` takes 1.3 GiB for a million of them.
inline constexpr size_t kMostSamples = 2'000'000;

struct SampleFile {
  std::string format;  // "samples", "Vidur GEMM", ...; of a folder: "5 files"
  std::vector<Sample> samples;
  // Rows whose source says that they are no measurements.
  int64_t skipped = 0;
};

// Throws InputError: "gemm.csv:3: latency_ms: got "-1", want a number from 1e-06
// to 1e+09", and for more than kMostSamples. Samples are in the order of the rows.
SampleFile ReadSampleFile(const std::string& path);
std::vector<Sample> ReadSamples(const std::string& path);
// The files that a folder stands for; at least one. Throws InputError.
std::vector<std::string> TablesIn(const std::string& folder);
// The same from the bytes of a file.
SampleFile ParseSamples(std::string_view bytes, const std::string& path);

// Throws InputError, `path` first, where there are more than kMostSamples.
void CheckSampleCount(size_t samples, const std::string& path);

// Whether a text that begins like this is a table that ReadSamples knows, at most
// one column missing. Gzipped texts too.
bool IsSampleTable(std::string_view bytes);

// Writes our own table, whole or not at all; gzipped if the path ends in .gz.
// Throws InputError.
void WriteSamplesCsv(const std::string& path, std::span<const Sample> samples);
// Writes a SampleSetProto as .textproto or .pb, likewise.
void WriteSamplesProto(const std::string& path, std::span<const Sample> samples);

}  // namespace stagecraft
