// SPDX-License-Identifier: Apache-2.0
// What a reader may point at: values of charts, series to hide, tables to sort, wires of a block. The page is whole without it.
"use strict";

for (const chart of document.querySelectorAll("svg.chart[data-chart]")) {
  const { unit, x, lines } = JSON.parse(chart.dataset.chart);
  const cross = chart.querySelector(".cross");
  const box = Object.assign(document.createElement("div"), { className: "values", hidden: true });
  const hidden = new Set();
  chart.parentNode.append(box);
  const hide = () => { box.hidden = true; cross.style.visibility = "hidden"; };
  const show = (event) => {
    const frame = chart.getBoundingClientRect();
    const per = frame.width / chart.viewBox.baseVal.width;
    const at = (event.clientX - frame.left) / per;
    const shown = lines.filter((line) => !hidden.has(line.series));
    let near = null;
    for (const line of shown) for (const point of line.points)
      if (!near || Math.abs(point[2] - at) < Math.abs(near[2] - at)) near = point;
    if (!near) return hide();
    box.replaceChildren(Object.assign(document.createElement("b"), { textContent: `${x} ${near[0]}` }));
    for (const line of shown) {
      const point = line.points.find((p) => p[0] === near[0]);
      if (!point) continue;
      const row = Object.assign(document.createElement("span"), { className: line.look });
      row.append(document.createElement("i"), Object.assign(document.createElement("em"), { textContent: `${line.name}: ${point[1]} ${unit}` }));
      box.append(row);
    }
    cross.setAttribute("transform", `translate(${near[2]} 0)`);
    cross.style.visibility = "visible";
    box.hidden = false;
    const place = chart.offsetLeft ?? 0;
    const left = near[2] * per;
    const room = chart.parentNode.clientWidth - box.offsetWidth - 4;
    box.style.left = `${Math.max(4, Math.min(room, place + left + (left > frame.width / 2 ? -box.offsetWidth - 12 : 24)))}px`;
    box.style.top = "16px";
  };
  chart.addEventListener("pointermove", show);
  chart.addEventListener("pointerdown", show);
  chart.addEventListener("pointerleave", hide);
  for (const button of chart.parentNode.querySelectorAll(".legend button")) {
    const series = Number(button.dataset.series);
    button.setAttribute("aria-pressed", "true");
    button.addEventListener("click", () => {
      const off = !hidden.delete(series);
      if (off) hidden.add(series);
      button.setAttribute("aria-pressed", String(!off));
      for (const line of chart.querySelectorAll(`.line[data-series="${series}"]`)) line.classList.toggle("off", off);
    });
  }
}

for (const table of document.querySelectorAll("table.sort")) {
  const body = table.tBodies[0];
  const first = [...body.rows];
  [...table.tHead.rows[0].cells].forEach((head, column) => head.addEventListener("click", () => {
    const way = { undefined: "ascending", ascending: "descending", descending: undefined }[head.getAttribute("aria-sort") ?? undefined];
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    if (!way) return body.append(...first);
    head.setAttribute("aria-sort", way);
    const value = (row) => {
      const cell = row.cells[column];
      const text = cell.dataset.value ?? cell.textContent;
      const number = Number.parseFloat(text.replace(/,/g, ""));
      return Number.isNaN(number) ? text : number;
    };
    const order = (a, b) => {
      const [p, q] = [value(a), value(b)];
      if (typeof p !== typeof q) return typeof p === "number" ? -1 : 1;
      return (p < q ? -1 : p > q ? 1 : 0) * (way === "ascending" ? 1 : -1);
    };
    body.append(...[...first].sort(order));
  }));
}

for (const drawing of document.querySelectorAll("svg.blocks")) {
  const wires = [...drawing.querySelectorAll(".w")];
  const mark = (id) => wires.forEach((w) => w.classList.toggle("near", id !== null && (w.dataset.a === id || w.dataset.b === id)));
  for (const box of drawing.querySelectorAll(".block, .pin")) {
    box.addEventListener("pointerenter", () => mark(box.id));
    box.addEventListener("pointerleave", () => mark(null));
  }
}
