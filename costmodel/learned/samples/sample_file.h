// Reads measured samples from any file that holds some, and writes them.
//
// The content decides the format: a table of our own (sample_csv.h) or one of the third-party
// tables (importers.h), each recognised by its header line, or a SampleSetProto by the extension of
// its file (proto_file.h). Any of them may be gzipped. A folder stands for all its .csv and .csv.gz
// files, including those in folders below it, in the order of their paths; other files there are
// skipped.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/learned/sample.h"

namespace stagecraft {

// The most samples that files together may hold: `fit` takes 1.3 GiB for a million of them.
inline constexpr size_t kMostSamples = 2'000'000;

struct SampleFile {
  std::string format;  // "samples", "Vidur GEMM", ...; of a folder: "5 files"
  std::vector<Sample> samples;
  // Number of rows whose source says that they are no measurements.
  int64_t skipped = 0;
};

// Reads a file or a folder. Throws InputError: "gemm.csv:3: latency_ms: got "-1", want a number
// from 1e-06 to 1e+09", and for more than kMostSamples. Samples are in the order of the rows.
SampleFile ReadSampleFile(const std::string& path);
std::vector<Sample> ReadSamples(const std::string& path);
// Returns the files for which a folder stands; at least one. Throws InputError if there are none.
std::vector<std::string> TablesIn(const std::string& folder);
// Reads the bytes of a file in the same way.
SampleFile ParseSamples(std::string_view bytes, const std::string& path);

// Throws an InputError that begins with `path` if there are more than kMostSamples.
void CheckSampleCount(size_t samples, const std::string& path);

// Whether these bytes, gzipped or not, are the beginning of a table that ReadSamples() knows, with
// at most one column missing.
bool IsSampleTable(std::string_view bytes);

// Writes a table of our own, the whole file or nothing; gzipped if the path ends in .gz. Throws
// InputError.
void WriteSamplesCsv(const std::string& path, std::span<const Sample> samples);
// Writes a SampleSetProto as .textproto or .pb in the same way.
void WriteSamplesProto(const std::string& path, std::span<const Sample> samples);

}  // namespace stagecraft
