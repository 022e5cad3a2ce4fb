// Recent submissions: a list, latest first, by what is searched for. The search is part of the address.

import { VERDICTS, badge, clock, h, number, say, seconds } from "./dom.js";
import { visible } from "./difference.js";
import { ask, live } from "./service.js";

const MOST_ROWS = 100;
const LEAST_MILLISECONDS = 1500; // between two requests of the list

/** The fields of the search: name in the address and in the request, label, attributes of its input. */
const FIELDS = [
  ["q", "Id or suite", { type: "search", placeholder: "any part" }],
  ["label", "Label", { type: "search", placeholder: "step=40" }],
  ["client", "Client", { type: "search", placeholder: "any" }],
  ["min_reward", "Reward from", { type: "number", step: "any", placeholder: "any" }],
  ["max_reward", "to", { type: "number", step: "any", placeholder: "any" }],
];

/** The address of the list of what has these properties. */
export function found(wanted) {
  const given = Object.entries(wanted).filter(([, value]) => value !== "" && value != null);
  return given.length ? `#submissions?${new URLSearchParams(given)}` : "#submissions";
}

export class Submissions {
  constructor(query) {
    this.wanted = Object.fromEntries(new URLSearchParams(query));
    this.verdict = h("select", { onchange: () => this.again() }, h("option", { value: "" }, "all"), Object.keys(VERDICTS).map((name) => h("option", {}, name)));
    this.verdict.value = this.wanted.verdict ?? "";
    this.inputs = Object.fromEntries(FIELDS.map(([name, , attributes]) => [name, h("input", { ...attributes, spellcheck: "false", name, value: this.wanted[name] ?? null, onchange: () => this.again() })]));
    this.pause = h("button", { type: "button", "aria-pressed": "false", onclick: () => this.toggle() }, "Pause");
    this.rows = h("tbody", { onkeydown: (event) => this.step(event) });
    this.note = h("p", { class: "soft", role: "status" });
    const heads = ["Time", "Verdict", "Submission", "Client", "Reward", "Passed", "Graded", "Waited"];
    this.element = h(
      "div",
      {},
      h("div", { class: "head" }, h("h1", {}, "Submissions"), h("p", { class: "soft" }, "Recent submissions. When the history is full, the oldest of the most frequent verdict are dropped.")),
      h("div", { class: "row filters", role: "search" }, h("label", {}, "Verdict ", this.verdict), FIELDS.map(([name, title]) => h("label", { class: name }, `${title} `, this.inputs[name])), this.pause),
      h("div", { class: "card scroll list" }, h("table", { class: "rows" }, h("thead", {}, h("tr", {}, heads.map((head, index) => h("th", { scope: "col", class: index > 3 ? "number" : null }, head)))), this.rows), this.note),
    );
    this.look = ({ detail }) => this.refresh(detail);
    live.addEventListener("now", this.look);
    this.process = null;
    this.fetch();
  }

  leave() {
    live.removeEventListener("now", this.look);
  }

  /** Searches for what the form has now, and puts that into the address. */
  again() {
    const given = Object.entries(this.inputs).map(([name, input]) => [name, input.value.trim()]);
    const kept = Object.entries(this.wanted).filter(([name]) => !(name in this.inputs));
    this.wanted = { ...Object.fromEntries([...kept, ...given].filter(([, value]) => value)), verdict: this.verdict.value };
    if (!this.wanted.verdict) delete this.wanted.verdict;
    history.replaceState(null, "", found(this.wanted));
    this.process = null;
    this.fetch();
  }

  toggle() {
    this.isPaused = !this.isPaused;
    this.pause.setAttribute("aria-pressed", String(this.isPaused));
    say(this.pause, this.isPaused ? "Resume" : "Pause");
    if (!this.isPaused) this.again();
  }

  refresh({ process, last, is_fleet: isFleet }) {
    const isNew = process !== this.process || last > this.last || isFleet;
    if (isNew && !this.isPaused && !this.isAsking && Date.now() - this.asked > LEAST_MILLISECONDS) this.fetch();
  }

  async fetch() {
    const turn = (this.turn = {});
    if (!this.process && !this.rows.children.length) say(this.note, "Searching …");
    Object.assign(this, { isAsking: true, asked: Date.now() });
    try {
      const answer = await ask(`v1/recent?${new URLSearchParams({ ...this.wanted, after: this.process ? this.last : 0, limit: MOST_ROWS })}`);
      const said = await answer.json();
      if (turn === this.turn) this.take(said);
    } catch (error) {
      if (turn === this.turn) say(this.note, error.message);
    } finally {
      if (turn === this.turn) this.isAsking = false;
    }
  }

  /** Adds new rows on top; existing rows keep their state and focus. */
  take({ process, last, submissions }) {
    if (this.process && process !== this.process) return this.again();
    if (!this.process) this.rows.replaceChildren();
    Object.assign(this, { process, last });
    this.rows.prepend(...submissions.map(row));
    while (this.rows.children.length > MOST_ROWS) this.rows.lastElementChild.remove();
    say(this.note, this.rows.children.length ? "" : Object.keys(this.wanted).length ? "No submission matches." : "None yet. Try one in the playground.");
  }

  step(event) {
    const by = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling", j: "nextElementSibling", k: "previousElementSibling" }[event.key];
    const next = by && event.target.closest("tr")?.[by];
    if (!next) return;
    event.preventDefault();
    next.querySelector("a").focus();
  }
}

function row(one) {
  const name = h("a", { href: `#submissions/${one.key}`, title: one.id }, visible(one.id.slice(0, 80)));
  const reward = one.reward == null ? "masked" : number(one.reward);
  const cells = [clock(one.time), badge(one.verdict), name, visible(one.client) || "–", reward, one.failure_kind ?? `${one.passed} / ${one.total}`, one.cached ? "cached" : seconds(one.graded_seconds), one.cached ? "–" : seconds(one.queued_seconds)];
  const kinds = ["time", "verdict", "id", "client", "reward number", "passed number", "graded number", "waited number"];
  return h("tr", {}, cells.map((cell, index) => h("td", { class: kinds[index] }, cell)));
}
