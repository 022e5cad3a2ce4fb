// The problems of the recent submissions: pass rate, verdicts, time, and how the pass rate changed.

import { VERDICTS, clock, h, number, say, seconds, share } from "./dom.js";
import { visible } from "./difference.js";
import { ask } from "./service.js";
import { found } from "./submissions.js";

const ORDERS = {
  "most submissions": () => 0,
  "never solved first": (a, b) => rate(a) - rate(b),
  "always solved first": (a, b) => rate(b) - rate(a),
  "slowest first": (a, b) => (b.mean_seconds ?? 0) - (a.mean_seconds ?? 0),
  "flips first": (a, b) => b.flips - a.flips,
};
const rate = (problem) => problem.pass_rate ?? 2;

export class Problems {
  constructor(query) {
    const given = new URLSearchParams(query);
    this.by = h("input", { type: "search", name: "by", value: given.get("by") ?? "problem", spellcheck: "false", onchange: () => this.fetch() });
    this.label = h("input", { type: "search", name: "label", value: given.get("label"), placeholder: "step=40", spellcheck: "false", onchange: () => this.fetch() });
    this.order = h("select", { onchange: () => this.reorder() }, Object.keys(ORDERS).map((name) => h("option", {}, name)));
    this.order.value = given.get("order") ?? Object.keys(ORDERS)[0];
    this.rows = h("tbody");
    this.note = h("p", { class: "soft", role: "status" });
    const heads = ["Problem", "Pass rate", "Submissions", "Verdicts", "Mean time", "Flips", "Course"];
    this.element = h(
      "div",
      {},
      h("div", { class: "head" }, h("h1", {}, "Problems"), h("p", { class: "soft" }, "Recent submissions by the label that names their problem, or by their suite.")),
      h("div", { class: "row filters", role: "search" }, h("label", {}, "By label ", this.by), h("label", {}, "With label ", this.label), h("label", {}, "Order ", this.order), h("button", { type: "button", onclick: () => this.fetch() }, "Refresh")),
      h("div", { class: "card scroll list" }, h("table", { class: "rows problems" }, h("thead", {}, h("tr", {}, heads.map((head, index) => h("th", { scope: "col", class: index && index !== 3 && index !== 6 ? "number" : null }, head)))), this.rows), this.note),
    );
    this.found = [];
    this.fetch();
  }

  leave() {}

  async fetch() {
    const by = this.by.value.trim() || "problem";
    const label = this.label.value.trim();
    const asked = new URLSearchParams({ by, ...(label ? { label } : {}) });
    this.address(asked);
    if (!this.found.length) say(this.note, "Searching …");
    try {
      const answer = await ask(`v1/problems?${asked}&limit=400`);
      Object.assign(this, await answer.json());
      this.found = this.problems;
      this.show();
    } catch (error) {
      say(this.note, error.message);
    }
  }

  /** Shows the search and the order in the address, so that it can be sent to a colleague. */
  address(asked) {
    const order = this.order.value === Object.keys(ORDERS)[0] ? [] : [["order", this.order.value]];
    history.replaceState(null, "", `#problems?${new URLSearchParams([...asked, ...order])}`);
  }

  reorder() {
    const asked = new URLSearchParams(location.hash.split("?")[1]);
    asked.delete("order");
    this.address(asked);
    this.show();
  }

  show() {
    const sorted = [...this.found].sort(ORDERS[this.order.value]);
    this.rows.replaceChildren(...sorted.map((problem) => row(problem, this.by.value.trim() || "problem")));
    const rest = this.count - this.found.length;
    const times = this.count ? `from ${clock(this.begin)} to ${clock(this.end)}` : "";
    say(this.note, this.count ? `${number(this.count)} problems ${times}${rest > 0 ? `; those with the most submissions are shown` : ""}` : "None yet.");
  }
}

function row(problem, by) {
  const isSuite = problem.name.startsWith("sha256:");
  const shown = isSuite ? problem.name.slice(7, 23) : problem.name;
  const name = h("a", { href: found(isSuite ? { suite: problem.name } : { label: `${by}=${problem.name}` }), title: problem.name }, visible(shown));
  const verdicts = Object.keys(VERDICTS).filter((verdict) => problem.verdicts[verdict]).map((verdict) => `${number(problem.verdicts[verdict])} ${verdict}`);
  const passed = problem.pass_rate == null ? "–" : share(problem.pass_rate, 1);
  const cells = [name, passed, number(problem.submissions), verdicts.join(", "), seconds(problem.mean_seconds), number(problem.flips), course(problem)];
  const kinds = ["id", "rate number", "submissions number", "verdicts", "graded number", "flips number", "course"];
  return h("tr", {}, cells.map((cell, index) => h("td", { class: kinds[index] }, cell)));
}

/** The pass rate in each part of the time as a bar; no bar where nothing was submitted. */
function course(problem) {
  const said = problem.course.map(([all, accepted]) => (all ? share(accepted, all) : "none")).join(", ");
  const bars = problem.course.map(([all, accepted]) => h("i", { class: all ? `bar-${Math.round((10 * accepted) / all)}` : "bar-none" }));
  return h("span", { class: "bars", role: "img", "aria-label": `Pass rate over time: ${said}`, title: said }, bars);
}
