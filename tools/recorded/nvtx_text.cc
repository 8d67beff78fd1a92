#include "tools/recorded/nvtx_text.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/recorded/kernel_names.h"

namespace stagecraft {
namespace {

constexpr std::string_view kSequence = ", seq = ", kOperator = ", op_id = ", kSizes = ", sizes = ";

// Reads "[[4096, 8192], []]" from its beginning; empty if the brackets or numbers are not whole.
class SizeReader {
 public:
  explicit SizeReader(std::string_view text) : text_(text) {}

  std::vector<std::vector<int64_t>> Read() {
    std::vector<std::vector<int64_t>> all;
    if (!Take("[")) return {};
    while (!Take("]")) {
      if (!all.empty() && !Take(", ")) return {};
      std::vector<int64_t> dims;
      if (!ReadOne(dims)) return {};
      all.push_back(std::move(dims));
    }
    return all;
  }

 private:
  bool Take(std::string_view part) {
    if (!text_.starts_with(part)) return false;
    text_.remove_prefix(part.size());
    return true;
  }

  bool ReadOne(std::vector<int64_t>& dims) {
    if (!Take("[")) return false;
    while (!Take("]")) {
      if (!dims.empty() && !Take(", ")) return false;
      int64_t size = 0;
      const char* const end = text_.data() + text_.size();
      const auto [next, error] = std::from_chars(text_.data(), end, size);
      if (error != std::errc()) return false;
      text_.remove_prefix(static_cast<size_t>(next - text_.data()));
      dims.push_back(size);
    }
    return true;
  }

  std::string_view text_;
};

int64_t NumberAt(std::string_view text, size_t at) {
  int64_t number = -1;
  std::from_chars(text.data() + at, text.data() + text.size(), number);
  return number;
}

// Returns a number of at least 1 of the payload; no value if there is none.
std::optional<int64_t> CountIn(const nlohmann::json& payload, const char* key) {
  const auto found = payload.find(key);
  if (found == payload.end() || !found->is_number_integer()) return {};
  const auto count = found->get<int64_t>();
  if (count < 1) return {};
  return count;
}

}  // namespace

std::optional<NvtxOperator> OperatorOfNvtx(std::string_view text) {
  const size_t sequence = text.find(kSequence), sizes = text.find(kSizes);
  const size_t end = std::min({sequence, sizes, text.find(kOperator)});
  if (end == text.npos || end == 0) return {};
  NvtxOperator found;
  found.name = text.substr(0, end);
  if (sequence != text.npos) found.sequence = NumberAt(text, sequence + kSequence.size());
  if (sizes != text.npos) found.dims = SizeReader(text.substr(sizes + kSizes.size())).Read();
  return found;
}

std::optional<NcclCall> CallOfNccl(std::string_view name, std::string_view payload) {
  if (!name.starts_with("nccl") || payload.empty()) return {};
  const auto json = nlohmann::json::parse(payload, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return {};
  const auto communicator = json.find("NCCL communicator ID");
  if (communicator == json.end() || communicator->is_structured()) return {};
  NcclCall call;
  call.communicator = communicator->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (name.starts_with("ncclComm")) {
    const std::optional<int64_t> ranks = CountIn(json, "No. of ranks");
    if (!ranks || *ranks > std::numeric_limits<int>::max()) return {};
    call.group_size = static_cast<int>(*ranks);
    return call;
  }
  const std::optional<int64_t> bytes = CountIn(json, "Message size [bytes]");
  constexpr int64_t kMostBytes = int64_t{1} << 52;
  if (!bytes || *bytes > kMostBytes) return {};
  call.kind = ClassOfCollective(name);
  if (!call.kind) return {};
  call.message = Bytes(*bytes);
  return call;
}

}  // namespace stagecraft
