// SPDX-License-Identifier: Apache-2.0
// Draws what the server tells of a run: `points` of curves with how all stands `now`, and at last the `end`.
"use strict";

const id = (name) => document.getElementById(name);
const make = (name, more = {}, ...inner) => {
  const made = Object.assign(document.createElement(name), more);
  made.append(...inner);
  return made;
};
const whole = (x) => x.toLocaleString("en", { maximumFractionDigits: 0 });
const short = (x, digits = 2) => (x === null || x === undefined ? "–" : x.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits }));
const rows = (table, lines) => id(table).tBodies[0].replaceChildren(...lines.map((cells) =>
  make("tr", {}, ...cells.map((x, i) => make(i ? "td" : "th", { className: i ? "n" : "" }, String(x))))));

// ---------------------------------------------------------------- curves

const CHARTS = [
  ["l1_gbps", "Gb/s, with preamble and gap"], ["mpps", "Mpps"], ["p99", "latency, p99, ns"],
  ["under_way", "frames under way"], ["lost", "frames lost so far"],
];
const MOST = 4000, DRAWN = 400, COLOURS = 9;
let points = [], names = [];
const charts = CHARTS.map(([field, title]) => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 400 120");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", title);
  const most = make("span"), figure = make("figure", {}, make("figcaption", {}, make("span", {}, title), most), svg);
  figure.dataset.field = field;
  id("charts").append(figure);
  return { field, svg, most };
});

function curves() {
  if (!points.length) return;
  const first = points[0].t_us, last = points.at(-1).t_us, apart = Math.ceil(points.length / DRAWN);
  const some = points.filter((p, i) => i % apart === 0 || p === points.at(-1));
  const across = (p) => (400 * (p.t_us - first)) / Math.max(last - first, 1e-9);
  for (const { field, svg, most } of charts) {
    const values = some.flatMap((p) => names.map((n) => p.streams[n]?.[field] ?? 0)), top = Math.max(...values, 1e-9);
    const paths = names.map((name, i) => {
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      let line = "";
      for (const p of some) {
        const value = p.streams[name]?.[field];
        if (value === null || value === undefined) continue;
        line += `${line ? "L" : "M"}${across(p).toFixed(1)} ${(118 - (114 * value) / top).toFixed(1)}`;
      }
      path.setAttribute("d", line);
      path.setAttribute("class", `curve s${i % COLOURS}`);
      return path;
    });
    svg.replaceChildren(...paths);
    most.textContent = `0 … ${short(top, top < 100 ? 1 : 0)}`;
  }
  const text = `${short(first, 1)} … ${short(last, 1)} µs of simulated time`;
  id("legend").replaceChildren(...names.map((n, i) => make("span", { className: `s${i % COLOURS}` }, make("i"), n)), make("span", {}, text));
}

// ---------------------------------------------------------------- tables and loads

function streams(now, newest) {
  rows("streams", Object.entries(now.streams).map(([name, s]) => {
    const rate = newest.streams[name] ?? {}, lost = Object.entries(s.dropped).map(([why, n]) => `${whole(n)} ${why}`).join(", ");
    const ns = ["p50", "p99", "max"].map((x) => short(s.latency_ns[x], 0));
    return [name, whole(s.offered), whole(s.delivered), whole(s.under_way), whole(s.overtaken), lost || "0", short(rate.l1_gbps), short(rate.mpps, 3), ...ns];
  }));
}

function loads(now) {
  const found = Object.entries(now.loads).filter(([, x]) => x > 0).sort((a, b) => b[1] - a[1]);
  id("loads").replaceChildren(...found.map(([name, x]) => make("div", { className: "load" }, make("span", {}, name),
    make("meter", { max: 1, high: 0.9, value: Math.min(x, 1), ariaLabel: name }), make("output", {}, `${short(100 * x, 1)} %`))));
}

function flat(value, path, out) {
  if (typeof value === "number") { if (value !== 0) out.push([path, Number.isInteger(value) ? whole(value) : short(value, 3)]); }
  else if (typeof value === "string") { if (value) out.push([path, value]); }
  else if (value && typeof value === "object") for (const [name, x] of Object.entries(value)) flat(x, path ? `${path}.${name}` : name, out);
  return out;
}

// ---------------------------------------------------------------- a packet's way

const way = { chosen: null, held: false, ways: [], frame: null, step: 0 };
const blocks = (stage) => [...document.querySelectorAll("#diagram .block")].filter((x) => x.querySelector("text").textContent === stage);
id("hold").onclick = () => { way.held = !way.held; id("hold").setAttribute("aria-pressed", String(way.held)); };

function choose(now) {
  way.ways = now.ways;
  const known = way.ways.map((x) => x.stream);
  if (!known.includes(way.chosen)) way.chosen = known[0] ?? null;
  id("ways").replaceChildren(...known.map((name) => {
    const button = make("button", { type: "button", onclick: () => { way.chosen = name; way.held = false; id("hold").setAttribute("aria-pressed", "false"); way.frame = null; choose({ ways: way.ways }); show(); } }, name);
    button.setAttribute("aria-pressed", String(name === way.chosen));
    return button;
  }));
  if (!way.frame) show();
}

function show() {
  const next = way.ways.find((x) => x.stream === way.chosen);
  if (next && !way.held) way.frame = next;
  way.step = 0;
  const frame = way.frame;
  if (!frame) return;
  const at = Object.entries(frame.at);
  const stages = at.map(([name, ns], i) => make("li", { title: `at ${short(ns, 1)} ns` }, make("b", {}, name), i + 1 < at.length ? `${short(at[i + 1][1] - ns, 1)} ns` : "out"));
  const queue = frame.queue === null ? "" : `, queue ${frame.queue}`;
  const told = `frame ${whole(frame.frame)}: ${frame.bytes} B, flow ${frame.flow}${queue}, ${short(at.at(-1)[1] - at[0][1], 1)} ns in all`;
  id("way").replaceChildren(make("li", { className: "told" }, told), ...stages);
  light();
}

function light() {
  const names = way.frame ? Object.keys(way.frame.at) : [];
  for (const x of document.querySelectorAll("#diagram .here, #diagram .been, #way .here")) x.classList.remove("here", "been");
  names.slice(0, way.step).forEach((x) => blocks(x).forEach((b) => b.classList.add("been")));
  blocks(names[way.step]).forEach((b) => b.classList.add("here"));
  id("way").children[way.step + 1]?.classList.add("here");
}

setInterval(() => {
  if (!way.frame) return;
  if (++way.step < Object.keys(way.frame.at).length) light(); else show();
}, 700);
fetch("diagram").then((x) => x.text()).then((x) => { id("diagram").innerHTML = x; light(); }).catch(() => {});

// ---------------------------------------------------------------- the server

const told = new EventSource("events");
told.addEventListener("open", () => { points = []; });
told.addEventListener("points", (event) => {
  const { points: more, now } = JSON.parse(event.data);
  points.push(...more);
  while (points.length > MOST) points = points.filter((_, i) => i % 2 === 0);
  const newest = points.at(-1);
  names = [...new Set([...names, ...Object.keys(newest.streams)])];
  id("part").value = newest.part;
  id("said").textContent = `${short(newest.t_us, 1)} µs simulated, ${newest.phase === "drain" ? "all offered: what is inside comes out" : `${short(100 * newest.part, 0)} % of the traffic offered`}`;
  curves();
  streams(now, newest);
  loads(now);
  choose(now);
  rows("queues", now.queues.map((x) => [x.stream, x.queue, whole(x.waiting), whole(x.delivered), whole(x.bytes)]));
  id("queues-seen").textContent = now.queues_seen > now.queues.length ? `The ${now.queues.length} busiest of ${whole(now.queues_seen)} that have been used.` : now.queues_seen ? "" : "Frames of this system have no queue, or it is not known yet.";
  rows("resources", flat(now.resources, "", []));
});
told.addEventListener("end", (event) => {
  told.close();
  const { status, words, table } = JSON.parse(event.data);
  id("said").textContent = words;
  id("said").className = status === "well" ? "met" : "failed";
  if (status === "well") id("part").value = 1;
  if (table) { id("result").hidden = false; id("result").querySelector("pre").textContent = table; }
  document.body.dataset.ended = status;
});
told.addEventListener("error", () => {
  if (told.readyState !== EventSource.CLOSED || !document.body.dataset.ended) id("said").textContent = "Nobody answers: the command has ended.";
});
