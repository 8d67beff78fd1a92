// Converts NetworkModel from and to its proto, and reads it from files and the binary.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>

#include "costmodel/check.h"
#include "costmodel/network/curve_factors.h"
#include "costmodel/network/network_model.h"
#include "costmodel/proto_file.h"
#include "proto/network.pb.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 3;
constexpr int kMostRanks = 1 << 24;
// A knot's size is a binary logarithm of bytes, at most that of 2^63 bytes. A regime is a number
// of doublings of a time; no more than 64 fit between the shortest and the longest time.
constexpr double kMostSize = 63;
constexpr double kMostRegime = 64;

// The bytes with which the fields `schema` and `curves` begin; no other model uses their numbers.
constexpr std::string_view kBinarySchema = "\x90\x03";
constexpr std::string_view kBinaryCurves = "\x9a\x03";

constexpr const char* kNoNetwork = "none";  // between nodes, of a group on one

// Returns the value of this name of an enum with values from 0 to count - 1.
template <typename Enum>
Enum ByName(const std::string& text, int count, const std::string& path, const char* field) {
  for (int value = 0; value < count; ++value) {
    if (text == Name(static_cast<Enum>(value))) return static_cast<Enum>(value);
  }
  throw InputError(
      fmt::format("{}.{}: got \"{}\", want a name that stagecraft prints", path, field, text));
}

int Positive(int value, const std::string& path, const char* field) {
  if (value >= 1 && value <= kMostRanks) return value;
  throw InputError(fmt::format("{}.{}: got {}, want 1 to {}", path, field, value, kMostRanks));
}

std::optional<NetworkKind> ReadNetwork(const std::string& text, const std::string& path) {
  if (text == kNoNetwork) return std::nullopt;
  if (const std::optional<NetworkKind> kind = FindNetworkKind(text)) return kind;
  throw InputError(fmt::format(
      "{}.network: got \"{}\", want none or a kind of network, such as infiniband", path, text));
}

CurveFeatures ReadFeatures(const TimeCurveProto& proto, const std::string& path) {
  CurveFeatures features;
  features.site = proto.site();
  features.timing =
      ByName<Timing>(proto.timing(), static_cast<int>(Timing::kFramework) + 1, path, "timing");
  features.kind = ByName<OpKind>(proto.op(), kOpKindCount, path, "op");
  if (!IsCollective(features.kind)) {
    throw InputError(fmt::format("{}.op: got \"{}\", want a collective", path, proto.op()));
  }
  if (!proto.forced().empty()) {
    features.forced =
        ByName<Algorithm>(proto.forced(), static_cast<int>(Algorithm::kDirect) + 1, path, "forced");
  }
  features.generation = ByName<Generation>(
      proto.generation(), static_cast<int>(Generation::kHost) + 1, path, "generation");
  features.intra =
      ByName<LinkKind>(proto.intra(), static_cast<int>(LinkKind::kHost) + 1, path, "intra");
  features.network = ReadNetwork(proto.network(), path);
  features.nodes = Positive(proto.nodes(), path, "nodes");
  features.ranks_per_node = Positive(proto.ranks_per_node(), path, "ranks_per_node");
  features.sharing = Positive(proto.sharing(), path, "sharing");
  features.groups = Positive(proto.groups(), path, "groups");
  features.stride = Positive(proto.stride(), path, "stride");
  return features;
}

// Written so that NaN fails.
void CheckKnot(const std::string& path, const char* field, int index, double value, double low,
               double high) {
  if (value >= low && value <= high) return;
  throw InputError(
      fmt::format("{}.{}[{}]: got {}, want from {} to {}", path, field, index, value, low, high));
}

TimeCurve ReadCurve(const TimeCurveProto& proto, const std::string& path) {
  TimeCurve curve;
  curve.features = ReadFeatures(proto, path);
  if (proto.sizes().empty() || proto.regimes_size() != proto.sizes_size() ||
      proto.ratios_size() != proto.sizes_size()) {
    throw InputError(
        fmt::format("{}.sizes: got {}, with {} regimes and {} ratios, want the same number of "
                    "each, at least one",
                    path, proto.sizes_size(), proto.regimes_size(), proto.ratios_size()));
  }
  for (int i = 0; i < proto.sizes_size(); ++i) {
    const TimeCurve::Knot knot = {proto.sizes(i), proto.regimes(i), proto.ratios(i)};
    const bool ascends =
        i == 0 || (knot.size > curve.knots.back().size && knot.regime >= curve.knots.back().regime);
    if (!ascends) {
      throw InputError(fmt::format("{}.sizes[{}]: got {} at regime {}, want both to ascend", path,
                                   i, knot.size, knot.regime));
    }
    CheckKnot(path, "sizes", i, knot.size, 0, kMostSize);
    CheckKnot(path, "regimes", i, knot.regime, 0, kMostRegime);
    CheckKnot(path, "ratios", i, knot.ratio, -kMostLogRatio, kMostLogRatio);
    curve.knots.push_back(knot);
  }
  return curve;
}

constexpr int64_t kMostHarnessNs = 1'000'000'000;

Harnesses ReadHarnesses(const NetworkModelProto& proto, const std::string& name) {
  std::map<Harnesses::Key, HarnessTime> times;
  for (int i = 0; i < proto.harnesses_size(); ++i) {
    const HarnessTimeProto& harness = proto.harnesses(i);
    const std::string path = fmt::format("{}: harnesses[{}]", name, i);
    const auto time = [&](int64_t ns, const char* field) {
      if (ns >= 0 && ns <= kMostHarnessNs) return Duration::Nanoseconds(ns);
      throw InputError(fmt::format("{}.{}: got {}, want 0 to {}", path, field, ns, kMostHarnessNs));
    };
    const OpKind kind = ByName<OpKind>(harness.op(), kOpKindCount, path, "op");
    times[{harness.source(), kind}] = {time(harness.call_ns(), "call_ns"),
                                       time(harness.rank_ns(), "rank_ns")};
  }
  return Harnesses(std::move(times));
}

// Whether a text has `key` before a colon or brace.
bool HasKey(std::string_view text, std::string_view key) {
  for (size_t at = 0; (at = text.find(key, at)) != text.npos; at += key.size()) {
    const size_t next = text.find_first_not_of("\" \t\n", at + key.size());
    if (next != text.npos && (text[next] == ':' || text[next] == '{')) return true;
  }
  return false;
}

}  // namespace

NetworkModel NetworkModel::FromProto(const NetworkModelProto& proto, const std::string& name,
                                     std::string_view factors) {
  if (proto.schema() != kSchema) {
    throw InputError(fmt::format("{}: schema: got {}, want {}; is it a network model?", name,
                                 proto.schema(), kSchema));
  }
  if (proto.curves_size() > static_cast<int>(kMostCurves)) {
    throw InputError(
        fmt::format("{}: curves: got {}, want at most {}", name, proto.curves_size(), kMostCurves));
  }
  std::vector<TimeCurve> curves;
  for (int i = 0; i < proto.curves_size(); ++i) {
    curves.push_back(ReadCurve(proto.curves(i), fmt::format("{}: curves[{}]", name, i)));
  }
  const bool has_home =
      proto.home().empty() || std::any_of(curves.begin(), curves.end(), [&](const TimeCurve& c) {
        return c.features.site == proto.home();
      });
  if (!has_home) {
    throw InputError(
        fmt::format("{}: home: got \"{}\", want the site of some curve", name, proto.home()));
  }
  std::shared_ptr<const CurveFactors> known;
  if (!factors.empty()) {
    known = std::make_shared<const CurveFactors>(CurveFactors::InPlace(factors, curves.size()));
  }
  return NetworkModel(std::move(curves), ReadHarnesses(proto, name), proto.home(),
                      std::move(known));
}

NetworkModelProto NetworkModel::ToProto() const {
  NetworkModelProto proto;
  proto.set_schema(kSchema);
  proto.set_home(home_);
  for (const auto& [key, time] : harnesses_.times()) {
    HarnessTimeProto& to = *proto.add_harnesses();
    to.set_source(key.first);
    to.set_op(Name(key.second));
    to.set_call_ns(time.call.ns());
    to.set_rank_ns(time.rank.ns());
  }
  for (const TimeCurve& curve : curves_) {
    TimeCurveProto& to = *proto.add_curves();
    const CurveFeatures& features = curve.features;
    to.set_site(features.site);
    to.set_timing(Name(features.timing));
    to.set_op(Name(features.kind));
    if (features.forced) to.set_forced(Name(*features.forced));
    to.set_generation(Name(features.generation));
    to.set_intra(Name(features.intra));
    to.set_network(features.network ? Name(*features.network) : kNoNetwork);
    to.set_nodes(features.nodes);
    to.set_ranks_per_node(features.ranks_per_node);
    to.set_sharing(features.sharing);
    to.set_groups(features.groups);
    to.set_stride(features.stride);
    for (const TimeCurve::Knot& knot : curve.knots) {
      to.add_sizes(static_cast<float>(knot.size));
      to.add_regimes(static_cast<float>(knot.regime));
      to.add_ratios(static_cast<float>(knot.ratio));
    }
  }
  return proto;
}

NetworkModel NetworkModel::Read(const std::string& path) {
  NetworkModelProto proto;
  ReadProtoFile(path, &proto);
  return FromProto(proto, path);
}

bool NetworkModel::IsModelFile(const std::string& path) {
  const std::string text = ReadFile(path);
  if (std::filesystem::path(path).extension() == ".pb") {
    return text.starts_with(kBinarySchema) || text.starts_with(kBinaryCurves);
  }
  return HasKey(text, "curves");
}

}  // namespace stagecraft
