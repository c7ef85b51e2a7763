# SPDX-License-Identifier: Apache-2.0
"""A trace as one HTML page that needs nothing else: a timeline to zoom into, a bar a frame, a colour a stage."""

import html
import json
from typing import Any

MOST = 50_000  # frames that a browser draws at once without being slow

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>@TITLE@</title>
<style>
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --line: #ccc; --lost: #c00; }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --paper: #181818; --line: #444; --lost: #f66; } }
body { margin: 0; font: 13px sans-serif; color: var(--ink); background: var(--paper); }
header { padding: 8px 12px; } h1 { font-size: 15px; margin: 0 0 4px; }
#legend span { display: inline-block; margin-right: 12px; }
#legend i { display: inline-block; width: 10px; height: 10px; margin-right: 4px; }
#frame { white-space: pre-line; position: fixed; pointer-events: none; background: var(--paper); border: 1px solid var(--line);
  padding: 6px; display: none; }
canvas { display: block; touch-action: none; cursor: grab; }
</style></head><body>
<header><h1>@TITLE@</h1><div id="legend"></div><div>Wheel: zoom. Drag: move. Shift and wheel, or drag: up and down.
Double click: all of it.</div></header>
<canvas id="view"></canvas><div id="frame"></div>
<script>
"use strict";
const data = @DATA@;
const view = document.getElementById("view"), card = document.getElementById("frame");
const legend = document.getElementById("legend");
const names = [...new Set(data.flatMap(s => s.frames.flatMap(f => f.at.map(x => x[0]))))];
const colour = n => `hsl(${(names.indexOf(n) * 137) % 360} 60% 52%)`;
for (const n of names) {
  const word = document.createElement("span"), patch = document.createElement("i");
  patch.style.background = colour(n);
  word.append(patch, n);
  legend.append(word);
}
const row = 14, head = 18, css = n => getComputedStyle(document.documentElement).getPropertyValue(n);
let top_ = 0;
for (const s of data) { s.top = top_; top_ += head + row * s.tracks; }
const height = top_, first = Math.min(...data.map(s => s.from));
const last = Math.max(...data.map(s => s.to)), whole = Math.max(last - first, 1);
let from = first, to = first + whole * 1.02, down = 0;
function draw() {
  const w = view.width = innerWidth, h = view.height = Math.max(200, innerHeight - view.offsetTop);
  const c = view.getContext("2d"), x = t => (t - from) / (to - from) * w;
  c.font = "11px sans-serif";
  const step = 10 ** Math.floor(Math.log10((to - from) / 4)), ink = css("--ink");
  for (const s of data) {
    const y0 = s.top - down;
    if (y0 > h || y0 + head + row * s.tracks < 0) continue;
    for (const f of s.frames) {
      const y = y0 + head + row * f.track;
      if (y < -row || y > h || f.to < from || f.at[0][1] > to) continue;
      f.at.forEach((a, i) => {
        const end = i + 1 < f.at.length ? f.at[i + 1][1] : a[1], left = x(a[1]);
        c.fillStyle = colour(a[0]);
        c.fillRect(left, y, Math.max(x(end) - left, 0.5), row - 3);
        if (x(end) - left > 50) { c.fillStyle = "#fff"; c.fillText(a[0], Math.max(left, 0) + 3, y + 9); }
      });
      if (f.lost) { c.fillStyle = css("--lost"); c.fillRect(x(f.to), y - 1, 3, row - 1); }
    }
    c.fillStyle = css("--paper"); c.globalAlpha = 0.8; c.fillRect(0, y0, 90, head); c.globalAlpha = 1;
    c.fillStyle = ink; c.fillText(s.name, 4, y0 + 13);
  }
  c.fillStyle = css("--paper"); c.fillRect(0, h - 16, w, 16); c.fillStyle = ink;
  for (let t = Math.ceil(from / step) * step; t < to; t += step) {
    if (x(t) + 60 > w) break;
    c.fillRect(x(t), h - 16, 1, 5);
    if (step / (to - from) * w > 70 || Math.round(t / step) % 5 === 0) c.fillText(t.toLocaleString() + " ns", x(t) + 3, h - 3);
  }
}
function at(e) {
  const t = from + e.offsetX / view.width * (to - from), y = e.offsetY + down, slack = 2 * (to - from) / view.width;
  const s = data.find(q => y >= q.top + head && y < q.top + head + row * q.tracks);
  if (!s) return null;
  const track = Math.floor((y - s.top - head) / row);
  const f = s.frames.find(g => g.track === track && g.at[0][1] - slack <= t && t <= g.to + slack);
  return f && { s, f };
}
function limit() { down = Math.max(0, Math.min(down, height - view.height + 20)); }
view.onwheel = e => {
  e.preventDefault();
  if (e.shiftKey) { down += e.deltaY || e.deltaX; limit(); return draw(); }
  const t = from + e.offsetX / view.width * (to - from), k = Math.exp(e.deltaY / 400);
  const span = Math.min(Math.max((to - from) * k, 1), 4 * whole);
  from = t - (t - from) / (to - from) * span; to = from + span;
  draw();
};
let held = null;
view.onpointerdown = e => { held = [e.clientX, e.clientY]; view.setPointerCapture(e.pointerId); };
view.onpointerup = () => { held = null; };
view.ondblclick = () => { from = first; to = first + whole * 1.02; down = 0; draw(); };
view.onpointermove = e => {
  if (held) {
    const dt = (held[0] - e.clientX) / view.width * (to - from);
    from += dt; to += dt; down += held[1] - e.clientY; limit(); held = [e.clientX, e.clientY];
    return draw();
  }
  const hit = at(e);
  card.style.display = hit ? "block" : "none";
  if (!hit) return;
  const f = hit.f, ns = i => i + 1 < f.at.length ? (f.at[i + 1][1] - f.at[i][1]).toFixed(1) + " ns" : "";
  const spent = f.at.map((a, i) => `${a[0]} ${ns(i)}`);
  card.textContent = [`frame ${f.frame}, ${hit.s.name}, ${f.what}`, ...spent].join("\\n");
  card.style.left = Math.min(e.clientX + 12, innerWidth - 260) + "px";
  card.style.top = Math.min(e.clientY + 12, innerHeight - 20 * spent.length - 40) + "px";
};
onresize = draw;
draw();
</script></body></html>
"""


def page(title: str, streams: dict[str, list[tuple[int, Any]]]) -> str:
    """The page of frames with their tracks, by stream."""
    data = []
    for name, frames in streams.items():
        rows = []
        for track, frame in frames:
            queue = "" if frame.queue is None else f", queue {frame.queue}"
            why = f": {frame.reason}" if frame.reason else ""
            what = f"{frame.bytes} bytes, flow {frame.flow}{queue}, {frame.outcome}{why}"
            at = list(frame.at.items())
            lost = frame.outcome != "delivered"
            rows.append({"frame": frame.frame, "track": track - 1, "what": what, "at": at, "to": at[-1][1], "lost": lost})
        first, last = min(x["at"][0][1] for x in rows), max(x["to"] for x in rows)
        data.append({"name": name, "tracks": 1 + max(x["track"] for x in rows), "from": first, "to": last, "frames": rows})
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    return _PAGE.replace("@TITLE@", html.escape(title)).replace("@DATA@", text)
