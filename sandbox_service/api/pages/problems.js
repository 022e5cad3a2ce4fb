// The problems of the recent submissions: pass rate, verdicts, time, and how the pass rate changed.

import { VERDICTS, clock, h, number, say, seconds, share } from "./dom.js";
import { visible } from "./difference.js";
import { ask } from "./service.js";
import { found, labelled } from "./submissions.js";

const FEW = 100; // problems that are shown at first
const MOST = 400; // after a click

/** The orders by their names here, and in the request. */
const ORDERS = {
  "most submissions": "most",
  "never solved first": "never",
  "always solved first": "always",
  "slowest first": "slowest",
  "flips first": "flips",
  "suspects first": "suspects",
};

export class Problems {
  constructor(query) {
    const given = new URLSearchParams(query);
    this.by = h("input", { type: "search", name: "by", value: given.get("by") ?? "problem", spellcheck: "false", onchange: () => this.fetch() });
    this.label = h("input", { type: "search", name: "label", value: given.getAll("label").join(" & "), placeholder: "step=40", spellcheck: "false", onchange: () => this.fetch() });
    this.order = h("select", { onchange: () => this.fetch() }, Object.keys(ORDERS).map((name) => h("option", {}, name)));
    this.order.value = given.get("order") in ORDERS ? given.get("order") : Object.keys(ORDERS)[0];
    this.most = FEW;
    this.more = h("button", { type: "button", hidden: true, onclick: () => this.extend() }, "Show more");
    this.rows = h("tbody");
    this.note = h("p", { class: "soft", role: "status" });
    const heads = ["Problem", "Pass rate", "Submissions", "Verdicts", "Mean time", "Flips", "Suspects", "Course"];
    this.element = h(
      "div",
      {},
      h("div", { class: "head" }, h("h1", {}, "Problems"), h("p", { class: "soft" }, "Recent submissions by the label that names their problem, or by their suite.")),
      h("div", { class: "row filters", role: "search" }, h("label", {}, "By label ", this.by), h("label", {}, "With label ", this.label), h("label", {}, "Order ", this.order), h("button", { type: "button", onclick: () => this.fetch() }, "Refresh")),
      h("div", { class: "card scroll list" }, h("table", { class: "rows problems" }, h("thead", {}, h("tr", {}, heads.map((head, index) => h("th", { scope: "col", class: index && index !== 3 && index !== 7 ? "number" : null }, head)))), this.rows), this.note, this.more),
    );
    this.fetch();
  }

  leave() {}

  async fetch() {
    const by = this.by.value.trim() || "problem";
    const asked = new URLSearchParams([["by", by], ...labelled(this.label.value)]);
    this.address(asked);
    if (!this.rows.children.length) say(this.note, "Searching …");
    const turn = (this.turn = {});
    try {
      const answer = await ask(`v1/problems?${asked}&order=${ORDERS[this.order.value]}&limit=${this.most}`);
      const said = await answer.json();
      if (turn === this.turn) this.show(said, by);
    } catch (error) {
      if (turn === this.turn) say(this.note, error.message);
    }
  }

  /** Shows the search and the order in the address, so that it can be sent to a colleague. */
  address(asked) {
    const order = this.order.value === Object.keys(ORDERS)[0] ? [] : [["order", this.order.value]];
    history.replaceState(null, "", `#problems?${new URLSearchParams([...asked, ...order])}`);
  }

  extend() {
    this.most = MOST;
    this.fetch();
  }

  show({ count, begin, end, problems }, by) {
    this.rows.replaceChildren(...problems.map((problem) => row(problem, by)));
    this.more.hidden = count <= problems.length || this.most === MOST;
    const times = count ? ` from ${clock(begin)} to ${clock(end)}` : "";
    const rest = count > problems.length ? `; the first ${number(problems.length)} in this order are shown` : "";
    say(this.note, count ? `${number(count)} problems${times}${rest}` : "None yet.");
  }
}

function row(problem, by) {
  const isSuite = problem.name.startsWith("sha256:");
  const shown = isSuite ? problem.name.slice(7, 23) : problem.name;
  const mine = isSuite ? { suite: problem.name } : { label: `${by}=${problem.name}` };
  const name = h("a", { href: found(mine), title: problem.name }, visible(shown));
  const suspects = problem.suspects ? h("a", { href: found({ ...mine, suspect: "true" }) }, number(problem.suspects)) : "0";
  const verdicts = Object.keys(VERDICTS).filter((verdict) => problem.verdicts[verdict]).map((verdict) => `${number(problem.verdicts[verdict])} ${verdict}`);
  const passed = problem.pass_rate == null ? "–" : share(problem.pass_rate, 1);
  const cells = [name, passed, number(problem.submissions), verdicts.join(", "), seconds(problem.mean_seconds), number(problem.flips), suspects, course(problem)];
  const kinds = ["id", "rate number", "submissions number", "verdicts", "graded number", `flips number${problem.flips ? "" : " none"}`, `suspects number${problem.suspects ? "" : " none"}`, "course"];
  return h("tr", {}, cells.map((cell, index) => h("td", { class: kinds[index] }, cell)));
}

/** The pass rate in each part of the time as a bar; no bar where nothing was submitted. */
function course(problem) {
  const said = problem.course.map(([all, accepted]) => (all ? share(accepted, all) : "none")).join(", ");
  const bars = problem.course.map(([all, accepted]) => h("i", { class: all ? `bar-${Math.round((10 * accepted) / all)}` : "bar-none" }));
  return h("span", { class: "bars", role: "img", "aria-label": `Pass rate over time: ${said}`, title: said }, bars);
}
