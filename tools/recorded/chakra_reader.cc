#include "tools/recorded/chakra_reader.h"

#include <fmt/core.h>

#include <charconv>
#include <filesystem>
#include <istream>
#include <optional>
#include <string_view>

#include "costmodel/check.h"
#include "proto/chakra.pb.h"
#include "tools/recorded/byte_stream.h"
#include "tools/recorded/kernel_names.h"

namespace stagecraft {
namespace {

constexpr uint32_t kMostMessageBytes = 64 << 20;
constexpr int64_t kNanoseconds = 1000;  // of a microsecond
constexpr uint64_t kMostMicros = kMostTraceNs / kNanoseconds;

// Chakra's CollectiveCommType.
constexpr std::optional<KernelClass> kCollectives[] = {
    KernelClass::kAllReduce,     KernelClass::kAllReduce,
    KernelClass::kAllGather,     KernelClass::kAllGather,
    KernelClass::kBroadcast,     KernelClass::kBroadcast,
    KernelClass::kAllToAll,      KernelClass::kReduceScatter,
    KernelClass::kReduceScatter, std::nullopt};

const chakra::Attribute* Find(const chakra::Node& node, std::string_view name) {
  for (const chakra::Attribute& attribute : node.attr()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

// The value of any integer arm; writers disagree on which.
std::optional<int64_t> IntegerOf(const chakra::Attribute& attribute) {
  using A = chakra::Attribute;
  switch (attribute.value_case()) {
    case A::kInt32Val:
      return attribute.int32_val();
    case A::kInt64Val:
      return attribute.int64_val();
    case A::kUint32Val:
      return attribute.uint32_val();
    case A::kUint64Val:
      return static_cast<int64_t>(attribute.uint64_val());
    case A::kSint32Val:
      return attribute.sint32_val();
    case A::kSint64Val:
      return attribute.sint64_val();
    case A::kFixed32Val:
      return attribute.fixed32_val();
    case A::kFixed64Val:
      return static_cast<int64_t>(attribute.fixed64_val());
    case A::kSfixed32Val:
      return attribute.sfixed32_val();
    case A::kSfixed64Val:
      return attribute.sfixed64_val();
    default:
      return {};
  }
}

std::optional<int64_t> Integer(const chakra::Node& node, std::string_view name) {
  const chakra::Attribute* const attribute = Find(node, name);
  return attribute == nullptr ? std::nullopt : IntegerOf(*attribute);
}

class ChakraReader {
 public:
  ChakraReader(const std::string& path, CutOff cut_off)
      : path_(path), cut_off_(cut_off), bytes_(path), in_(&bytes_) {
    recording_.file = path;
    recording_.profiler = "chakra";
    recording_.rank = RankOfName();
  }

  Recording Read() {
    in_.exceptions(std::ios::badbit);
    std::string message;
    chakra::GlobalMetadata metadata;
    if (!Next(message) || !metadata.ParseFromString(message) || metadata.version().empty()) {
      throw InputError(path_ +
                       ": want a Chakra execution trace, which begins with its metadata and their "
                       "version");
    }
    has_metadata_ = true;
    recording_.software = fmt::format("Chakra {}", metadata.version());
    for (chakra::Node node; Next(message); ++nodes_) {
      if (!node.ParseFromString(message)) {
        throw InputError(fmt::format("{}: node {}: not a node of a Chakra trace", path_, nodes_));
      }
      Take(node);
    }
    return Finish();
  }

 private:
  std::optional<int> RankOfName() const {
    std::filesystem::path name = std::filesystem::path(path_).filename();
    while (name.extension() == ".gz" || name.extension() == ".et") name = name.stem();
    std::string digits = name.extension().string();
    if (digits.size() < 2) return {};
    int rank = -1;
    const auto [end, error] =
        std::from_chars(digits.data() + 1, digits.data() + digits.size(), rank);
    const bool is_whole = error == std::errc() && end == digits.data() + digits.size();
    return is_whole && rank >= 0 ? std::optional(rank) : std::nullopt;
  }

  // Reads the next message; returns false at the end of the file.
  bool Next(std::string& message) {
    uint32_t size = 0;
    int shift = 0;
    for (int byte = in_.get();; byte = in_.get()) {
      if (byte == std::istream::traits_type::eof()) return shift > 0 ? CutHere() : EndHere();
      constexpr int kMostShift = 28;
      if (shift > kMostShift) throw InputError(Length("more than 32 bits"));
      size |= static_cast<uint32_t>(byte & 0x7f) << shift;
      shift += 7;
      if ((byte & 0x80) == 0) break;
    }
    if (size > kMostMessageBytes) throw InputError(Length(std::to_string(size)));
    message.resize(size);
    in_.read(message.data(), size);
    return static_cast<uint32_t>(in_.gcount()) == size ? true : CutHere();
  }

  std::string Length(const std::string& got) const {
    return fmt::format(
        "{}: message {}: got a length of {}, want at most {} bytes: is it a Chakra "
        "execution trace?",
        path_, nodes_, got, kMostMessageBytes);
  }

  bool EndHere() { return bytes_.is_cut_off() ? CutHere() : false; }

  bool CutHere() {
    if (!has_metadata_) return false;  // Read() then says that the file does not begin as a trace
    if (cut_off_ == CutOff::kRefuse) {
      throw InputError(
          fmt::format("{}: cut off after {} whole nodes, want the whole file, or "
                      "--cut-off of import to take these nodes",
                      path_, nodes_));
    }
    recording_.notes.push_back(
        fmt::format("{}: cut off after {} whole nodes: what came later is missing", path_, nodes_));
    return false;
  }

  void Take(const chakra::Node& node) {
    if (node.start_time_micros() > kMostMicros || node.duration_micros() > kMostMicros) {
      throw InputError(fmt::format("{}: node {}: got a time beyond {} us, want one below", path_,
                                   node.id(), kMostMicros));
    }
    const int64_t start_ns =
        Integer(node, "start_time_ns")
            .value_or(static_cast<int64_t>(node.start_time_micros()) * kNanoseconds);
    const int64_t duration_ns =
        Integer(node, "duration_ns")
            .value_or(static_cast<int64_t>(node.duration_micros()) * kNanoseconds);
    for (const int64_t time_ns : {start_ns, duration_ns}) {
      if (time_ns >= 0 && time_ns <= kMostTraceNs) continue;
      throw InputError(fmt::format("{}: node {}: got a time of {} ns, want 0 to {}", path_,
                                   node.id(), time_ns, kMostTraceNs));
    }
    const chakra::Attribute* const on_cpu = Find(node, "is_cpu_op");
    if (on_cpu != nullptr && on_cpu->bool_val()) {
      ++cpu_nodes_;
      return;
    }
    const std::optional<KernelClass> kind = ClassOf(node);
    if (!kind) return;
    if (duration_ns == 0) {
      ++without_duration_;
      return;
    }
    RecordedKernel kernel;
    kernel.start_ns = start_ns;
    kernel.end_ns = start_ns + duration_ns;
    kernel.name = recording_.names.Intern(node.name());
    kernel.kind = *kind;
    kernel.stream = static_cast<int32_t>(
        Integer(node, "stream").value_or(IsCommunication(*kind) ? kCommunicationStream : 0));
    kernel.place = PlaceByName(node.name());
    kernel.collective = CollectiveOf(node, *kind);
    recording_.kernels.push_back(kernel);
  }

  std::optional<KernelClass> ClassOf(const chakra::Node& node) const {
    switch (node.type()) {
      case chakra::Node::COMP_NODE:
        return ClassOfKernel(node.name());
      case chakra::Node::COMM_SEND_NODE:
      case chakra::Node::COMM_RECV_NODE:
        return KernelClass::kSendRecv;
      case chakra::Node::MEM_LOAD_NODE:
      case chakra::Node::MEM_STORE_NODE:
        return KernelClass::kCopy;
      case chakra::Node::COMM_COLL_NODE: {
        const int64_t type = Integer(node, "comm_type").value_or(0);
        if (type < 0 || type >= std::ssize(kCollectives)) return KernelClass::kOther;
        return kCollectives[type];
      }
      default:
        return {};
    }
  }

  int32_t CollectiveOf(const chakra::Node& node, KernelClass kind) {
    if (!IsCommunication(kind)) return -1;
    RecordedCollective collective;
    collective.kind = kind;
    const int64_t bytes = Integer(node, "comm_size").value_or(0);
    if (bytes > 0) collective.bytes = Bytes(bytes);
    if (const chakra::Attribute* const group = Find(node, "pg_name")) {
      collective.group = recording_.names.Intern(group->string_val());
    }
    recording_.collectives.push_back(collective);
    return static_cast<int32_t>(std::ssize(recording_.collectives) - 1);
  }

  Recording Finish() {
    if (recording_.kernels.empty()) {
      throw InputError(fmt::format(
          "{}: got no node with a duration on the device among {} nodes ({} of the CPU, {} without "
          "a duration), want a trace of a run that was measured",
          path_, nodes_, cpu_nodes_, without_duration_));
    }
    if (without_duration_ > 0) {
      recording_.notes.push_back(
          fmt::format("{}: {} nodes have no duration and are left out", path_, without_duration_));
    }
    return std::move(recording_);
  }

  static constexpr int kCommunicationStream = 1;

  const std::string path_;
  const CutOff cut_off_;
  ByteStream bytes_;
  std::istream in_;
  Recording recording_;
  bool has_metadata_ = false;
  int64_t nodes_ = 0, cpu_nodes_ = 0, without_duration_ = 0;
};

}  // namespace

Recording ReadChakra(const std::string& path, CutOff cut_off) {
  return ChakraReader(path, cut_off).Read();
}

}  // namespace stagecraft
