#include "tools/report/tie_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/units.h"
#include "search/tie.h"

namespace stagecraft {
namespace {

ComparedPlan Compared(double loss, double uncertainty, double room_gib,
                      std::vector<std::string> features) {
  ComparedPlan plan;
  plan.loss = loss;
  plan.uncertainty = uncertainty;
  plan.is_tied = loss <= uncertainty;
  plan.room = Bytes(static_cast<int64_t>(room_gib * (1 << 30)));
  plan.features = std::move(features);
  return plan;
}

std::string TextOf(const Ties& ties) {
  std::ostringstream out;
  PrintTies(ties, out);
  return out.str();
}

Ties ThreePlans() {
  return {{Compared(0, 0, 1, {"pp", "interleaved"}), Compared(0.001, 0.02, 4.5, {"pp"}),
           Compared(0.1, 0.05, 9, {})},
          1};
}

TEST(TieReportTest, TiedPlansAreListedWithWhatDecidesBetweenThem) {
  EXPECT_EQ(TextOf(ThreePlans()),
            "\na tie: 2 of these plans differ by less than their difference is uncertain (80 % "
            "interval)\n"
            "rank  worse by  uncertain by  nodes  GiB left  features\n"
            "   1                              1       1.0  pp, interleaved\n"
            "   2    0.10 %        2.00 %      1       4.5  pp\n"
            "prefer rank 2: it is simpler: no interleaved; its fullest GPU has 4.5 GiB left "
            "instead of 1.0\n");
}

TEST(TieReportTest, TheFirstPlanMayBeTheOneToPrefer) {
  Ties ties = ThreePlans();
  ties.preferred = 0;
  EXPECT_NE(TextOf(ties).find("none of them crosses fewer nodes, is simpler or has more room"),
            std::string::npos);
}

TEST(TieReportTest, APlanThatIsTrulyBetterIsNoTie) {
  EXPECT_EQ(TextOf({{Compared(0, 0, 1, {}), Compared(0.1, 0.05, 1, {})}, 0}),
            "no tie: the next plan is 10.00 % worse, and the difference is uncertain by 5.00 % (80 "
            "% interval)\n");
  EXPECT_EQ(TextOf({{Compared(0, 0, 1, {})}, 0}), "");
}

TEST(TieReportTest, JsonHasAllPlans) {
  const nlohmann::ordered_json json = TiesToJson(ThreePlans());
  EXPECT_EQ(json["tied"], 2);
  EXPECT_EQ(json["preferred_rank"], 2);
  EXPECT_EQ(json["reasons"].size(), 2u);
  ASSERT_EQ(json["plans"].size(), 3u);
  EXPECT_EQ(json["plans"][1]["uncertainty"], 0.02);
  EXPECT_EQ(json["plans"][2]["tied"], false);
  EXPECT_EQ(json["plans"][0]["features"], std::vector<std::string>({"pp", "interleaved"}));
}

}  // namespace
}  // namespace stagecraft
