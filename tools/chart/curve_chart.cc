#include "tools/chart/curve_chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tools/chart/svg_parts.h"

namespace stagecraft {
namespace {

// Sizes in pixels.
constexpr int kPlotWidth = 560;
constexpr int kPlotHeight = 320;

constexpr double kLongestAxis = 1e5;  // the last value of the horizontal axis over the first

bool IsShown(const CurvePoint& point) { return point.score > 0 && std::isfinite(point.score); }

// A logarithmic range and its place on the page.
struct LogAxis {
  double low = INFINITY, high = 0;
  double begin = 0, length = 0;  // pixels

  void Include(double value) {
    if (!(value > 0) || !std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  // Widens the range by `share` at both ends; if it has at most one value, by enough to be drawn.
  void Widen(double share) {
    if (high == 0) low = high = 1;
    if (low == high) share = std::max(share, 0.03);
    low /= 1 + share;
    high *= 1 + share;
  }
  double At(double value) const {
    const double held = std::clamp(value, low, high);
    return begin + length * std::log(held / low) / std::log(high / low);
  }
  // Returns round numbers within the range, few enough to be readable.
  std::vector<double> Ticks() const;
};

std::vector<double> LogAxis::Ticks() const {
  std::vector<double> ticks;
  if (high / low < 4) {
    const double step = TickStep(high - low);
    for (double i = std::ceil(low / step); i * step <= high; ++i) ticks.push_back(i * step);
    return ticks;
  }
  const std::vector<double> factors =
      high / low > 300 ? std::vector<double>{1} : std::vector<double>{1, 2, 5};
  for (double power = std::floor(std::log10(low)); power <= std::log10(high); ++power) {
    for (const double factor : factors) {
      const double tick = factor * std::pow(10.0, power);
      if (tick >= low && tick <= high) ticks.push_back(tick);
    }
  }
  return ticks;
}

class CurvePlot {
 public:
  CurvePlot(const CurveChart& chart, CurveAxis axis) : chart_(chart), axis_(axis) {
    for (const SearchCurve& curve : chart.curves) {
      for (const CurvePoint& point : curve.points) {
        if (!IsShown(point)) continue;
        x_.Include(PlaceOf(point));
        y_.Include(point.score / chart.unit);
      }
      x_.Include(End(curve));
    }
    if (chart.bound) y_.Include(*chart.bound / chart.unit);
    x_.low = std::max(x_.low, x_.high / kLongestAxis);
    x_.Widen(0);
    y_.Widen(0.03);
    x_.begin = kChartLeft;
    x_.length = kPlotWidth;
    y_.begin = kChartTop + kPlotHeight;
    y_.length = -kPlotHeight;
  }

  std::string Svg() const {
    const int lines = static_cast<int>(chart_.curves.size());
    const int height = std::max(kPlotHeight, kLegendLine * lines) + kChartTop + kChartBottom;
    std::string svg = SvgBegin(kChartLeft + kPlotWidth + kLegendWidth, height) + Grid();
    std::vector<std::string> names;
    for (const SearchCurve& curve : chart_.curves) {
      svg += Polyline(curve, static_cast<int>(names.size()));
      names.push_back(curve.name);
    }
    if (chart_.bound) svg += Bound();
    return svg + SvgLegend(kChartLeft + kPlotWidth + 16, names) + "</svg>\n";
  }

 private:
  double PlaceOf(const CurvePoint& point) const {
    return axis_ == CurveAxis::kSeconds ? point.seconds : static_cast<double>(point.evaluations);
  }
  double End(const SearchCurve& curve) const {
    return axis_ == CurveAxis::kSeconds ? curve.seconds : static_cast<double>(curve.evaluations);
  }

  std::string Grid() const {
    const int bottom = kChartTop + kPlotHeight, right = kChartLeft + kPlotWidth;
    std::string svg;
    for (const double tick : x_.Ticks()) {
      svg += SvgLine(x_.At(tick), kChartTop, x_.At(tick), bottom, "grid");
      svg += SvgText(x_.At(tick), bottom + 16, "middle", fmt::format("{:.6g}", tick));
    }
    for (const double tick : y_.Ticks()) {
      svg += SvgLine(kChartLeft, y_.At(tick), right, y_.At(tick), "grid");
      svg += SvgText(kChartLeft - 6, y_.At(tick) + 4, "end", fmt::format("{:.6g}", tick));
    }
    const char* label = axis_ == CurveAxis::kSeconds ? "time (s)" : "evaluations";
    svg += SvgText(kChartLeft + kPlotWidth / 2, bottom + 36, "middle", label);
    return svg + SvgYLabel(kChartTop + kPlotHeight / 2, chart_.score_label);
  }

  std::string Bound() const {
    const double y = y_.At(*chart_.bound / chart_.unit);
    const int right = kChartLeft + kPlotWidth;
    return SvgLine(kChartLeft, y, right, y, "dashed") +
           SvgText(kChartLeft + 4, y - 4, "start", chart_.bound_label);
  }

  // Draws steps, since a better score holds from where it was found.
  std::string Polyline(const SearchCurve& curve, int series) const {
    std::string places;
    const CurvePoint* last = nullptr;
    const auto add = [&](double x, const CurvePoint& point) {
      places += fmt::format("{}{:.1f},{:.1f}", places.empty() ? "" : " ", x_.At(x),
                            y_.At(point.score / chart_.unit));
    };
    for (const CurvePoint& point : curve.points) {
      if (!IsShown(point)) continue;
      if (last != nullptr) add(PlaceOf(point), *last);
      add(PlaceOf(point), point);
      last = &point;
    }
    if (last == nullptr) return "";
    add(End(curve), *last);
    const std::string title =
        fmt::format("{}: {:.6g} after {} evaluations, {:.3g} s", curve.name,
                    last->score / chart_.unit, last->evaluations, last->seconds);
    return fmt::format(
        "<polyline class=\"curve\" stroke=\"{}\" points=\"{}\"><title>{}</title></polyline>\n",
        SeriesColour(series), places, EscapeXml(title));
  }

  const CurveChart& chart_;
  const CurveAxis axis_;
  LogAxis x_, y_;
};

}  // namespace

std::string ToSvg(const CurveChart& chart, CurveAxis axis) { return CurvePlot(chart, axis).Svg(); }

}  // namespace stagecraft
