// Implements DegreeSpace::ChoicesOf().
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "search/divisors.h"
#include "search/rank_places.h"
#include "search/space.h"
#include "sim/pipeline/make_pass_orders.h"
#include "sim/plan/layer_division.h"

namespace stagecraft {
namespace {

bool ChunksFit(const SearchProblem& problem, PipelineSchedule pipeline_schedule, int stages,
               int chunks) {
  const int layers = problem.workload.layer_count();
  if (chunks > layers || (stages == 1 && chunks > 1)) return false;
  const Placement placement = PlacementOf(pipeline_schedule);
  if (!FindChunkError(pipeline_schedule, placement, stages, chunks).empty()) return false;
  const ChunkMap map(placement, stages, chunks);
  if (map.length() > layers) return false;
  const bool balances_head = problem.given.balance_head && stages > 1;
  if (balances_head && (chunks > 1 || layers - 2 < stages)) return false;
  const bool divides = (layers - 2) % map.length() == 0 || layers % map.length() == 0;
  return !problem.choices.chunks.empty() || chunks <= LeastChunks(pipeline_schedule) || divides;
}

// ChoiceEnumeration lists the choices of one family.
class ChoiceEnumeration {
 public:
  ChoiceEnumeration(const SearchProblem& problem, const std::vector<int>& devices,
                    const std::vector<std::string>& rank_orders, const DegreeFamily& family)
      : problem_(problem),
        choices_(problem.choices),
        devices_(devices),
        rank_orders_(rank_orders),
        family_(family),
        experts_(ExpertCount(problem.workload)),
        most_micro_batch_(MostMicroBatch(problem)),
        one_stage_(ScheduleOfOneStage(problem)) {}

  std::vector<DegreeChoice> Run() {
    DegreeChoice choice{};
    choice.part = family_.part.devices;
    choice.devices = family_.devices;
    choice.tensor = family_.tensor;
    choice.context = family_.context;
    choice.pipeline = family_.pipeline;
    choice.data = family_.data;
    choice.splits_tokens = family_.splits_tokens;
    choice.overlaps_tensor = family_.overlaps_tensor;
    choice.device_list = static_cast<uint8_t>(*family_.device_list);
    for (const uint8_t rank_order : RankOrders()) {
      choice.rank_order = rank_order;
      if (MayOverlapTensor(rank_order)) AddExperts(choice);
    }
    return std::move(found_);
  }

 private:
  // For plans on the first devices of the list, one of several equivalent rank orders is enough.
  // For other devices it is not known which orders are equivalent.
  std::vector<uint8_t> RankOrders() const {
    if (!family_.part.devices.is_whole()) {
      std::vector<uint8_t> all(rank_orders_.size());
      std::iota(all.begin(), all.end(), uint8_t{0});
      return all;
    }
    const PlacedSets sets{.first_device = devices_[0],
                          .devices = family_.devices,
                          .set_devices = family_.tensor * family_.context,
                          .stages = family_.pipeline,
                          .replicas = family_.data,
                          .are_all = true};
    const bool are_alike = family_.devices <= AlikeDevices(problem_.cluster, devices_[0]);
    const bool is_usual_tried = Allows(rank_orders_, std::string(kDefaultRankOrder));
    const bool drops_other = is_usual_tried && !RankOrderMatters(problem_.cluster, sets);
    std::vector<uint8_t> orders;
    for (size_t i = 0; i < rank_orders_.size(); ++i) {
      if (are_alike && i > 0) break;
      if (!are_alike && drops_other && rank_orders_[i] == kStagesFirstRankOrder) continue;
      orders.push_back(static_cast<uint8_t>(i));
    }
    return orders;
  }

  // If the search chooses, only groups of consecutive ranks are known to lie within domains.
  bool MayOverlapTensor(uint8_t rank_order) const {
    const bool is_chosen = choices_.chooses_tensor_overlap && family_.overlaps_tensor;
    return !is_chosen || rank_orders_[rank_order].starts_with("tp");
  }

  void AddExperts(DegreeChoice choice) {
    const int ranks = choice.data * choice.context;
    const std::vector<int> usual = experts_ > 0 ? Divisors(experts_, ranks) : std::vector<int>{1};
    for (const int expert : Or(choices_.expert, usual)) {
      if (ranks % expert != 0 || (expert > 1 && (experts_ <= 0 || experts_ % expert != 0)))
        continue;
      choice.expert = expert;
      AddMicroBatches(choice);
    }
  }

  bool is_even() const { return problem_.given.global_batch % family_.data == 0; }

  void AddMicroBatches(DegreeChoice choice) {
    // Replicas that take different numbers of micro-batches cannot share experts.
    if (!is_even() && choice.expert > 1) return;
    const int64_t batch = problem_.given.global_batch;
    const int64_t whole = is_even() ? batch / choice.data : batch;
    for (const int64_t size : Or(choices_.micro_batches, Divisors(whole, most_micro_batch_))) {
      if (whole % size != 0 || batch / size < choice.data) continue;
      choice.micro_batch = static_cast<int32_t>(size);
      for (const PipelineSchedule pipeline_schedule : SchedulesToTry(problem_)) {
        if (ClassOf(pipeline_schedule) == family_.part.schedules)
          AddChunks(pipeline_schedule, choice);
      }
    }
  }

  void AddChunks(PipelineSchedule pipeline_schedule, DegreeChoice choice) {
    if (choice.pipeline == 1 && pipeline_schedule != one_stage_) return;
    if (!is_even() && IsAsynchronous(pipeline_schedule)) return;
    choice.schedule = static_cast<uint8_t>(pipeline_schedule);
    choice.overlaps_sends = OverlapsSends(choices_, problem_.given, pipeline_schedule);
    for (const int chunks : ChunksOf(pipeline_schedule)) {
      choice.chunks = chunks;
      if (MicroBatchesFit(pipeline_schedule, choice)) AddRecomputes(choice);
    }
  }

  // They are found once, since all sizes of micro-batches ask for them.
  const std::vector<int>& ChunksOf(PipelineSchedule pipeline_schedule) {
    const auto [entry, is_new] = chunks_.try_emplace(pipeline_schedule);
    if (is_new) entry->second = ChunksToTry(problem_, pipeline_schedule, family_.pipeline);
    return entry->second;
  }

  bool MicroBatchesFit(PipelineSchedule pipeline_schedule, const DegreeChoice& choice) const {
    const ChunkMap map(PlacementOf(pipeline_schedule), choice.pipeline, choice.chunks);
    // The number of micro-batches of a replica or, if replicas differ by one, the least and the
    // most.
    const int64_t all = problem_.given.global_batch / choice.micro_batch;
    const auto least = static_cast<int>(all / choice.data);
    const auto most = static_cast<int>((all + choice.data - 1) / choice.data);
    return FindMicroBatchError(pipeline_schedule, map, least).empty() &&
           FindMicroBatchError(pipeline_schedule, map, most).empty();
  }

  void AddRecomputes(DegreeChoice choice) {
    for (const Recompute recompute : RecomputesToTry(problem_)) {
      choice.recompute = static_cast<uint8_t>(recompute);
      AddSharding(choice);
    }
  }

  void AddSharding(DegreeChoice choice) {
    const PlanDegrees& given = problem_.given;
    const bool is_alone = choice.data * choice.context == 1;
    const bool is_plain = given.gradient_sync.method == SyncMethod::kAllReduce;
    const std::vector<int> usual = is_alone || !is_plain || given.forward_only
                                       ? std::vector<int>{0}
                                       : std::vector<int>{0, 1, 2, 3};
    // Two copies of a stage's parameters are updated as one.
    const auto schedule = static_cast<PipelineSchedule>(choice.schedule);
    const bool has_copies = PlacementOf(schedule) == Placement::kBidirectional;
    // ZeRO 2 and 3 divide passes, so that none can run beside another one.
    const bool pairs_passes = given.schedule_options.pairs_passes;
    for (const int zero : Or(choices_.zeros, usual)) {
      if ((has_copies || pairs_passes || !is_even()) && zero > 1) continue;
      choice.zero = static_cast<uint8_t>(zero);
      AddOverlap(choice);
    }
  }

  void AddOverlap(DegreeChoice choice) {
    if (!choices_.chooses_gather_overlap) {
      choice.overlaps_gather = problem_.given.overlap_param_gather;
      found_.push_back(choice);
      return;
    }
    if (MayOverlapGather(choice)) {
      choice.overlaps_gather = true;
      found_.push_back(choice);
    }
    choice.overlaps_gather = false;
    found_.push_back(choice);
  }

  // Returns whether parameters that the update gathers may be gathered beside the next forward.
  // Frameworks want gradients to be reduced beside the backward, too.
  bool MayOverlapGather(const DegreeChoice& choice) const {
    const auto schedule = static_cast<PipelineSchedule>(choice.schedule);
    const bool gathers = choice.zero == 1 || choice.zero == 2;
    const bool is_alone = choice.data * choice.context == 1;
    const PlanDegrees& given = problem_.given;
    return gathers && !is_alone && !given.forward_only && given.overlap_grad_reduce &&
           PlacementOf(schedule) != Placement::kBidirectional && !IsAsynchronous(schedule);
  }

  const SearchProblem& problem_;
  const Choices& choices_;
  const std::vector<int>& devices_;
  const std::vector<std::string>& rank_orders_;
  const DegreeFamily& family_;
  const int experts_;
  const int64_t most_micro_batch_;
  const std::optional<PipelineSchedule> one_stage_;
  std::map<PipelineSchedule, std::vector<int>> chunks_;  // by schedule
  std::vector<DegreeChoice> found_;
};

}  // namespace

std::vector<int> ChunksToTry(const SearchProblem& problem, PipelineSchedule pipeline_schedule,
                             int stages) {
  std::vector<int> usual(kMostChunks);
  std::iota(usual.begin(), usual.end(), 1);
  std::vector<int> found = Or(problem.choices.chunks, std::move(usual));
  std::erase_if(found,
                [&](int chunks) { return !ChunksFit(problem, pipeline_schedule, stages, chunks); });
  return found;
}

std::vector<DegreeChoice> DegreeSpace::ChoicesOf(const DegreeFamily& family) const {
  return ChoiceEnumeration(problem_, devices(), rank_orders_, family).Run();
}

}  // namespace stagecraft
