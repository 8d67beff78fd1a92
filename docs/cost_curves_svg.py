#!/usr/bin/env python3
"""Draws how the time of simulations and searches grows: one panel for each curve of the benchmark.

    bazel run --config=opt //tests:cost_curves_benchmark -- --benchmark_format=json > curves.json
    docs/cost_curves_svg.py curves.json > docs/cost-curves.svg
"""
import json
import math
import sys

LEFT, TOP, WIDTH, HEIGHT, GAP = 62, 64, 196, 190, 58
PANELS = [("BM_Devices", "simulate: devices"), ("BM_Layers", "simulate: blocks of the network"),
          ("BM_MicroBatches", "simulate: micro-batches"), ("BM_Plans", "search: plans enumerated")]
MS = {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}
STYLE = """
  text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 14px } .axis { fill: #59636e; font-size: 11px }
  .page { fill: #ffffff } .tick { stroke: #d1d9e0 } .even { stroke: #59636e; stroke-dasharray: 3 4 }
  .curve { stroke: #1f6feb; stroke-width: 2; fill: none } .point { fill: #1f6feb }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .axis { fill: #9198a1 } .page { fill: #0d1117 } .tick { stroke: #3d444d }
    .even { stroke: #9198a1 } .curve { stroke: #58a6ff } .point { fill: #58a6ff }
  }
"""


def curve_of(runs, name):
    points = [(run["at"], run["cpu_time"] * MS[run["time_unit"]]) for run in runs
              if run["name"].split("/")[0] == name and run.get("run_type") != "aggregate"]
    return sorted(points)


def number(value):
    for size, word in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{word}"
    return f"{value:g}"


def time_text(ms):
    return f"{ms / 1000:g} s" if ms >= 1000 else f"{ms:g} ms" if ms >= 1 else f"{ms * 1000:g} us"


def decades(low, high):
    return [10.0 ** e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def panel(points, title, left):
    xs, ys = decades(points[0][0], points[-1][0]), decades(min(t for _, t in points),
                                                           max(t for _, t in points))
    def x_of(x):
        return left + WIDTH * math.log(x / xs[0]) / math.log(xs[-1] / xs[0])
    def y_of(y):
        return TOP + HEIGHT * (1 - math.log(y / ys[0]) / math.log(ys[-1] / ys[0]))
    out = [f'<text x="{left}" y="{TOP - 12}">{title}</text>']
    for x in xs:
        out.append(f'<path class="tick" d="M{x_of(x):.1f} {TOP}v{HEIGHT}"/>')
        out.append(f'<text class="axis" x="{x_of(x):.1f}" y="{TOP + HEIGHT + 16}" '
                   f'text-anchor="middle">{number(x)}</text>')
    for y in ys:
        out.append(f'<path class="tick" d="M{left} {y_of(y):.1f}h{WIDTH}"/>')
        out.append(f'<text class="axis" x="{left - 6}" y="{y_of(y) + 4:.1f}" '
                   f'text-anchor="end">{time_text(y)}</text>')
    # A dashed line through the last point, along which time is proportional to size.
    last_x, last_y = points[-1]
    first_x = max(points[0][0], last_x * ys[0] / last_y)
    out.append(f'<path class="even" d="M{x_of(first_x):.1f} {y_of(last_y * first_x / last_x):.1f}'
               f'L{x_of(last_x):.1f} {y_of(last_y):.1f}"/>')
    path = "L".join(f"{x_of(x):.1f} {y_of(y):.1f}" for x, y in points)
    out.append(f'<path class="curve" d="M{path}"/>')
    out += [f'<circle class="point" cx="{x_of(x):.1f}" cy="{y_of(y):.1f}" r="3"/>'
            for x, y in points]
    return out


def draw(runs):
    width, height = len(PANELS) * (WIDTH + GAP) + LEFT - GAP + 24, TOP + HEIGHT + 40
    title = "CPU time; along a dashed line it is proportional to the size"
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
           f'aria-label="{title}">', f"<style>{STYLE}</style>",
           '<rect class="page" width="100%" height="100%" rx="8"/>',
           f'<text class="title" x="16" y="26">{title}</text>']
    for index, (name, words) in enumerate(PANELS):
        out += panel(curve_of(runs, name), words, LEFT + index * (WIDTH + GAP))
    return "\n".join(out + ["</svg>"]) + "\n"


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        sys.stdout.write(draw(json.load(file)["benchmarks"]))
