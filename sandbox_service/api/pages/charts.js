// Small SVG charts of the last minutes: stacked bars, or a line over an area.

import { clock, h, s, say } from "./dom.js";

const HEIGHT = 168;
const MARGIN = { left: 44, right: 8, top: 10, bottom: 22 };
const LEAST_BAR = 5;

/**
 * A chart with a title, a readout of the column under the pointer, and a text alternative.
 * `series`: [{name, kind, value(bucket)}] from the bottom up. `group` merges buckets. `format` formats a value.
 */
export class Chart {
  constructor({ title, unit, series, group, format, readout, isStacked, summary }) {
    Object.assign(this, { series, group, format, readout, isStacked, summary });
    this.said = h("p", { class: "readout" });
    this.svg = s("svg", { role: "img", tabindex: 0, height: HEIGHT, "aria-label": title, class: "chart" });
    this.element = h("figure", { class: "card" }, h("figcaption", {}, h("h2", {}, title), h("span", { class: "soft" }, unit)), this.svg, this.said);
    this.title = title;
    this.at = null; // the column under the pointer
    this.columns = [];
    this.svg.addEventListener("pointermove", (event) => this.point(this.columnAt(event.offsetX)));
    this.svg.addEventListener("pointerleave", () => this.point(null));
    this.svg.addEventListener("blur", () => this.point(null));
    this.svg.addEventListener("keydown", (event) => this.step(event));
    new ResizeObserver(() => this.draw()).observe(this.svg);
  }

  /** `buckets` by start time; `first` and `last`: start times; `now`: the current time, within the last bucket. */
  update(buckets, { first, last, size, now }) {
    Object.assign(this, { buckets, first, last, size, now });
    this.draw();
  }

  draw() {
    const width = this.svg.clientWidth;
    if (!width || !this.buckets) return;
    this.width = width - MARGIN.left - MARGIN.right;
    this.columns = this.grouped();
    const tops = this.columns.map((column) => this.top(column));
    this.high = ceiling(Math.max(...tops, 0));
    this.mark = s("line", { class: "mark", y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom, visibility: "hidden" });
    this.svg.replaceChildren(...this.rules(), ...(this.isStacked ? this.bars() : this.lines()), this.mark);
    this.svg.setAttribute("aria-label", `${this.title}. ${this.summary(this.columns)}`);
    this.point(this.at);
  }

  grouped() {
    const count = (this.last - this.first) / this.size + 1;
    const wide = Math.max(1, Math.ceil((count * LEAST_BAR) / this.width)) * this.size;
    const columns = [];
    for (let start = Math.floor(this.first / wide) * wide; start <= this.last; start += wide) {
      const found = [];
      for (let at = start; at < start + wide; at += this.size) if (this.buckets.has(at)) found.push(this.buckets.get(at));
      const length = Math.min(Math.max(this.now - start, 1), wide);
      columns.push({ start, length, ...this.group(found, length) });
    }
    return columns;
  }

  top(column) {
    const values = this.series.map((one) => one.value(column));
    return this.isStacked ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values);
  }

  x(index) {
    return MARGIN.left + (index / this.columns.length) * this.width;
  }

  y(value) {
    return HEIGHT - MARGIN.bottom - (value / this.high) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  }

  rules() {
    const levels = [0, this.high / 2, this.high].map((value) => [
      s("line", { class: "rule", x1: MARGIN.left, x2: MARGIN.left + this.width, y1: this.y(value), y2: this.y(value) }),
      s("text", { x: MARGIN.left - 8, y: this.y(value) + 4, "text-anchor": "end" }, this.format(value)),
    ]);
    const minutes = [15, 10, 5, 0].map((ago) => {
      const anchor = ago === 15 ? "start" : ago === 0 ? "end" : "middle";
      const x = MARGIN.left + (1 - ago / 15) * this.width;
      return s("text", { x, y: HEIGHT - 6, "text-anchor": anchor }, ago === 0 ? "now" : `−${ago} min`);
    });
    return [...levels.flat(), ...minutes];
  }

  bars() {
    const wide = this.width / this.columns.length;
    const gap = wide > 3 ? 1 : 0;
    const floors = this.columns.map(() => 0);
    return this.series.map((one) => {
      const shapes = this.columns.map((column, index) => {
        const value = one.value(column);
        if (!value) return "";
        const [low, high] = [this.y(floors[index]), this.y((floors[index] += value))];
        return `M${this.x(index).toFixed(1)} ${low.toFixed(1)}h${(wide - gap).toFixed(1)}V${high.toFixed(1)}h${(gap - wide).toFixed(1)}z`;
      });
      return s("path", { class: `fill v-${one.kind}`, d: shapes.join("") });
    });
  }

  lines() {
    const middle = 0.5;
    return this.series.map((one) => {
      const points = this.columns.map((column, index) => `${this.x(index + middle).toFixed(1)} ${this.y(one.value(column)).toFixed(1)}`);
      if (!one.isArea) return s("path", { class: `line ${one.kind}`, d: `M${points.join("L")}` });
      const floor = this.y(0).toFixed(1);
      const [first, last] = [this.x(middle), this.x(this.columns.length - middle)].map((x) => x.toFixed(1));
      return s("path", { class: `area ${one.kind}`, d: `M${first} ${floor}L${points.join("L")}L${last} ${floor}z` });
    });
  }

  columnAt(x) {
    const index = Math.floor(((x - MARGIN.left) / this.width) * this.columns.length);
    return index >= 0 && index < this.columns.length ? index : null;
  }

  point(index) {
    this.at = index;
    const column = index === null ? undefined : this.columns[index];
    say(this.said, column ? `${clock(column.start)} · ${this.readout(column)}` : this.readout(null, this.columns));
    if (!this.mark) return;
    this.mark.setAttribute("visibility", column ? "visible" : "hidden");
    if (column) for (const end of ["x1", "x2"]) this.mark.setAttribute(end, this.x(index + 0.5));
  }

  step(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || !this.columns.length) return;
    event.preventDefault();
    const last = this.columns.length - 1;
    this.point(this.at === null ? last : Math.min(Math.max(this.at + by, 0), last));
  }
}

/** A round number that is not less. */
function ceiling(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 5, 8, 10].find((nice) => nice * power >= value * 0.999) * power;
}
