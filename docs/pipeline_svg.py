#!/usr/bin/env python3
"""Draws the pipeline of a Chrome trace: one row a rank, one box a microbatch's forward or backward.

    ./stagecraft simulate --model llama3-8b --cluster h100-sxm:1x4 --pp 4 --micro-batch 1 \
        --global-batch 8 --seq 8192 --trace step.json
    docs/pipeline_svg.py step.json "title" > docs/pipeline.svg
"""
import json
import sys

LEFT, TOP, WIDTH, ROW, GAP = 78, 58, 880, 34, 8
CLASSES = {"forward": "f", "backward": "b", "grad reduce": "r", "optimizer": "o"}
LEGEND = [("f", "forward of a micro-batch"), ("b", "backward"), ("r", "gradient reduction"),
          ("o", "optimizer"), ("i", "idle: the pipeline bubble")]
STYLE = """
  text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 14px } .axis { fill: #59636e; font-size: 11px }
  .number { font-size: 11px; text-anchor: middle } .page { fill: #ffffff }
  .f { fill: #8ec5ff } .b { fill: #ffd08a } .r { fill: #d8b4fe } .o { fill: #7bd88f }
  .i { fill: #eef1f4 } .tick { stroke: #d1d9e0 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .axis { fill: #9198a1 } .page { fill: #0d1117 }
    .f { fill: #1f6feb } .b { fill: #b0660a } .r { fill: #8250df } .o { fill: #238636 }
    .i { fill: #21262d } .tick { stroke: #3d444d }
  }
"""


def passes_of(events):
    for event in events:
        if event.get("ph") == "X" and event.get("cat") in CLASSES:
            yield event


def tick_step(total_ms):
    step = 1
    while total_ms / step > 10:
        step *= 2 if str(step)[0] in "15" else 2.5
    return step


def draw(events, title):
    ranks = sorted({e["pid"] for e in passes_of(events)})
    end = max(e["ts"] + e["dur"] for e in passes_of(events))
    scale = WIDTH / end
    height = TOP + len(ranks) * (ROW + GAP) + 62
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {height}" '
           f'role="img" aria-label="{title}">', f"<style>{STYLE}</style>",
           '<rect class="page" width="100%" height="100%" rx="8"/>',
           f'<text class="title" x="16" y="26">{title}</text>']
    bottom = TOP + len(ranks) * (ROW + GAP)
    at, step = 0.0, tick_step(end / 1000)
    while at * 1000 <= end:
        x = LEFT + at * 1000 * scale
        out.append(f'<path class="tick" d="M{x:.1f} {TOP - 8}V{bottom}"/>')
        out.append(f'<text class="axis" x="{x:.1f}" y="{TOP - 12}" text-anchor="middle">{at:g} ms</text>')
        at += step
    for row, rank in enumerate(ranks):
        y = TOP + row * (ROW + GAP)
        out.append(f'<text x="16" y="{y + ROW / 2 + 4:.0f}">stage {rank}</text>')
        out.append(f'<rect class="i" x="{LEFT}" y="{y}" width="{WIDTH}" height="{ROW}" rx="3"/>')
        for e in passes_of(events):
            if e["pid"] != rank:
                continue
            x, width = LEFT + e["ts"] * scale, e["dur"] * scale
            out.append(f'<rect class="{CLASSES[e["cat"]]}" x="{x:.1f}" y="{y}" '
                       f'width="{max(width - 0.8, 0.5):.1f}" height="{ROW}" rx="2"/>')
            batch = e.get("args", {}).get("micro_batch")
            if batch is not None and width > 12 and e["cat"] in ("forward", "backward"):
                out.append(f'<text class="number" x="{x + width / 2:.1f}" '
                           f'y="{y + ROW / 2 + 4:.0f}">{batch}</text>')
    x = LEFT
    seen = {CLASSES[e["cat"]] for e in passes_of(events)} | {"i"}
    for name, words in [entry for entry in LEGEND if entry[0] in seen]:
        out.append(f'<rect class="{name}" x="{x}" y="{bottom + 20}" width="14" height="14" rx="2"/>')
        out.append(f'<text x="{x + 20}" y="{bottom + 31}">{words}</text>')
        x += 46 + 6.6 * len(words)
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        trace = json.load(file)
    sys.stdout.write(draw(trace["traceEvents"] if isinstance(trace, dict) else trace, sys.argv[2]))


if __name__ == "__main__":
    main()
