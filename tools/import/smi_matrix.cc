#include "tools/import/smi_matrix.h"

#include <algorithm>
#include <string_view>

#include "costmodel/check.h"
#include "costmodel/text.h"
#include "tools/import/import_text.h"

namespace stagecraft {
namespace {

constexpr int kMostColumns = 512;
constexpr int kMostNvlinks = 64;
constexpr std::string_view kNuma = "NUMA Affinity";

// Removes the terminal escapes, ESC [ ... m, which underline the header.
std::string WithoutEscapes(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
      i += 2;
      while (i < text.size() && (text[i] == ';' || (text[i] >= '0' && text[i] <= '9'))) ++i;
      continue;
    }
    plain += text[i];
  }
  return plain;
}

bool IsNumbered(std::string_view name, std::string_view prefix) {
  return name.size() > prefix.size() && name.starts_with(prefix) &&
         std::all_of(name.begin() + static_cast<std::ptrdiff_t>(prefix.size()), name.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

// Whether a column is one of a GPU or a network interface. Older drivers print the interfaces' own
// names, like mlx5_0.
bool IsDevice(std::string_view name) {
  return IsNumbered(name, "GPU") || IsNumbered(name, "NIC") || IsNumbered(name, "mlx5_") ||
         IsNumbered(name, "mlx4_");
}

std::vector<std::string_view> TrimmedFields(std::string_view line) {
  std::vector<std::string_view> fields = SplitAt(line, '\t');
  for (std::string_view& field : fields) field = Trimmed(field);
  return fields;
}

SmiMatrix::Cell ParseCell(std::string_view text, const std::string& place) {
  if (text == "X") return {};
  if (text == "PIX" || text == "PXB") return {SmiPath::kSameSwitch, 0};
  if (text == "PHB" || text == "NODE") return {SmiPath::kSameRoot, 0};
  if (text == "SYS" || text == "SOC") return {SmiPath::kOtherRoot, 0};
  if (text.starts_with("NV")) {
    const int64_t links = ParseWhole(text.substr(2), 1, kMostNvlinks, place + " NV#");
    return {SmiPath::kNvlink, static_cast<int>(links)};
  }
  throw InputError(place + ": got " + Quoted(text) + ", want X, NV#, PIX, PXB, PHB, NODE or SYS");
}

void CheckSymmetric(const SmiMatrix& matrix, const std::vector<std::string>& names,
                    const std::string& name) {
  for (size_t row = 0; row < names.size(); ++row) {
    for (size_t column = 0; column < names.size(); ++column) {
      const SmiMatrix::Cell& cell = matrix.cells[row][column];
      if ((row == column) != (cell.path == SmiPath::kSelf)) {
        throw InputError(name + ": " + names[row] + " to " + names[column] + ": got " +
                         (row == column ? "a link to itself, want X" : "X, want a link"));
      }
      if (cell == matrix.cells[column][row]) continue;
      throw InputError(name + ": " + names[row] + " to " + names[column] +
                       ": got another link than in the other direction, want a symmetric matrix");
    }
  }
}

// Returns the names of the columns of devices and counts them in `matrix`; GPUs come first.
std::vector<std::string> ParseHeader(const std::vector<std::string_view>& fields,
                                     const std::string& place, SmiMatrix* matrix) {
  std::vector<std::string> names;
  for (size_t i = 1; i < fields.size() && IsDevice(fields[i]); ++i) {
    const std::string device(fields[i]);
    if (std::find(names.begin(), names.end(), device) != names.end()) {
      throw InputError(place + "got column " + device + " again, want each device once");
    }
    const bool is_gpu = device.starts_with("GPU");
    if (is_gpu && matrix->nics > 0) {
      throw InputError(place + "got " + device + " after network interfaces, want GPUs first");
    }
    ++(is_gpu ? matrix->gpus : matrix->nics);
    names.push_back(device);
    if (std::ssize(names) > kMostColumns) {
      throw InputError(place + "got more than " + std::to_string(kMostColumns) +
                       " columns, want fewer");
    }
  }
  return names;
}

}  // namespace

SmiMatrix ParseSmiMatrix(const std::string& text, const std::string& name) {
  const std::string plain = WithoutEscapes(text);
  const std::vector<std::string_view> lines = SplitLines(plain);
  size_t at = 0;
  while (at < lines.size() && Trimmed(lines[at]).substr(0, 4) != "GPU0") ++at;
  if (at == lines.size()) {
    throw InputError(name + ": got no header with GPU0, want what nvidia-smi topo -m prints");
  }
  SmiMatrix matrix;
  const std::vector<std::string_view> header = TrimmedFields(lines[at]);
  const std::vector<std::string> names = ParseHeader(header, AtLine(name, at), &matrix);
  if (names.empty()) {
    throw InputError(AtLine(name, at) + "got no columns, want columns separated by tabs");
  }
  const auto numa = std::find(header.begin(), header.end(), kNuma);
  for (const std::string& device : names) {
    ++at;
    const std::string row =
        at < lines.size() ? std::string(lines[at].substr(0, lines[at].find('\t'))) : std::string();
    if (Trimmed(row) != device) {
      throw InputError(AtLine(name, at) + "got row " + Quoted(Trimmed(row)) + ", want " + device);
    }
    const std::vector<std::string_view> fields = TrimmedFields(lines[at]);
    if (fields.size() < names.size() + 1) {
      throw InputError(AtLine(name, at) + "got " + std::to_string(fields.size() - 1) +
                       " cells, want " + std::to_string(names.size()));
    }
    std::vector<SmiMatrix::Cell>& cells = matrix.cells.emplace_back();
    for (size_t i = 0; i < names.size(); ++i) {
      cells.push_back(ParseCell(fields[i + 1], AtLine(name, at) + device + " to " + names[i]));
    }
    const auto column = static_cast<size_t>(numa - header.begin());
    if (numa != header.end() && std::ssize(matrix.numa) < matrix.gpus && column < fields.size()) {
      matrix.numa.emplace_back(fields[column]);
    }
  }
  CheckSymmetric(matrix, names, name);
  return matrix;
}

}  // namespace stagecraft
