// Recent submissions: a list, latest first, by what is searched for. The search is part of the address.

import { VERDICTS, badge, clock, h, number, say, seconds } from "./dom.js";
import { visible } from "./difference.js";
import { ask, live } from "./service.js";

const ROWS = 100; // at first, and with each click on "Show older ones"
const SUSPECT = "suspect"; // accepted, but fails an audit test
const LEAST_MILLISECONDS = 1500; // between two requests of the list

/** The fields of the search: name in the address and in the request, label, attributes of its input. */
const FIELDS = [
  ["q", "Id or suite", { type: "search", placeholder: "any part" }],
  ["label", "Labels", { type: "search", placeholder: "step=40", title: "NAME=VALUE or NAME; several: step=40 & problem=sum" }],
  ["client", "Client", { type: "search", placeholder: "any" }],
  ["min_reward", "Reward from", { type: "number", step: "any", placeholder: "any" }],
  ["max_reward", "to", { type: "number", step: "any", placeholder: "any" }],
];

/** The address of the list of what has these properties. */
export function found(wanted) {
  const given = Object.entries(wanted).filter(([, value]) => value !== "" && value != null);
  return given.length ? `#submissions?${new URLSearchParams(given)}` : "#submissions";
}

/** Labels for a query, from the text of a field: `step=40 & problem=sum`. */
export const labelled = (text) => text.split(" & ").map((each) => ["label", each.trim()]).filter(([, label]) => label);

/** The query of a request: each label by itself. */
const query = ({ label = "", ...wanted }, more) => new URLSearchParams([...Object.entries({ ...wanted, ...more }), ...labelled(label)]);

export class Submissions {
  constructor(address) {
    const given = new URLSearchParams(address);
    this.wanted = { ...Object.fromEntries(given), ...(given.has("label") ? { label: given.getAll("label").join(" & ") } : {}) };
    this.search = {}; // another object for each search, so that late answers to an older one are dropped
    this.most = ROWS;
    this.verdict = h("select", { onchange: () => this.again() }, h("option", { value: "" }, "all"), [...Object.keys(VERDICTS), SUSPECT].map((name) => h("option", {}, name)));
    this.verdict.value = this.wanted.suspect === "true" ? SUSPECT : (this.wanted.verdict ?? "");
    this.others = h("span", { class: "others" });
    this.older = h("button", { type: "button", hidden: true, onclick: () => this.extend() }, "Show older ones");
    this.inputs = Object.fromEntries(FIELDS.map(([name, , attributes]) => [name, h("input", { ...attributes, spellcheck: "false", name, value: this.wanted[name] ?? null, onchange: () => this.again() })]));
    this.pause = h("button", { type: "button", "aria-pressed": "false", onclick: () => this.toggle() }, "Pause");
    this.rows = h("tbody", { onkeydown: (event) => this.step(event) });
    this.note = h("p", { class: "soft", role: "status" });
    const heads = ["Time", "Verdict", "Submission", "Client", "Reward", "Passed", "Graded", "Waited"];
    this.element = h(
      "div",
      {},
      h("div", { class: "head" }, h("h1", {}, "Submissions"), h("p", { class: "soft" }, "Recent submissions. When the history is full, the oldest of the most frequent verdict are dropped.")),
      h("div", { class: "row filters", role: "search" }, h("label", {}, "Verdict ", this.verdict), FIELDS.map(([name, title]) => h("label", { class: name }, `${title} `, this.inputs[name])), this.others, this.pause),
      h("div", { class: "card scroll list" }, h("table", { class: "rows" }, h("thead", {}, h("tr", {}, heads.map((head, index) => h("th", { scope: "col", class: index > 3 ? "number" : null }, head)))), this.rows), this.note, this.older),
    );
    this.showOthers();
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
    const chosen = this.verdict.value === SUSPECT ? ["suspect", "true"] : ["verdict", this.verdict.value];
    this.wanted = Object.fromEntries([...this.kept(), ...given, chosen].filter(([, value]) => value));
    this.most = ROWS;
    this.search = {};
    history.replaceState(null, "", found(this.wanted));
    this.showOthers();
    this.process = null;
    this.fetch();
  }

  /** What the address searches for that has no field, such as a suite. */
  kept() {
    return Object.entries(this.wanted).filter(([name]) => !(name in this.inputs) && name !== "verdict" && name !== "suspect");
  }

  showOthers() {
    const drop = (name) => () => {
      delete this.wanted[name];
      this.again();
    };
    this.others.replaceChildren(...this.kept().map(([name, value]) => h("button", { type: "button", title: `${name} ${value}`, "aria-label": `Remove ${name} from the search`, onclick: drop(name) }, `${name} ${value.replace("sha256:", "").slice(0, 12)} ×`)));
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
      const answer = await ask(`v1/recent?${query(this.wanted, { after: this.process ? this.last : 0, limit: ROWS })}`);
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
    const isFirst = !this.rows.children.length;
    this.rows.prepend(...submissions.map(row));
    while (this.rows.children.length > this.most) this.rows.lastElementChild.remove();
    if (isFirst || this.rows.children.length === this.most) this.older.hidden = this.rows.children.length < ROWS;
    say(this.note, this.rows.children.length ? "" : Object.keys(this.wanted).length ? "No submission matches." : "None yet. Try one in the playground.");
  }

  /** Adds the submissions before the last row. Some may have its time: those that are there are left out. */
  async extend() {
    const search = this.search;
    const last = this.rows.lastElementChild;
    this.older.disabled = true;
    try {
      const answer = await ask(`v1/recent?${query(this.wanted, { until: last.dataset.time, limit: 2 * ROWS })}`);
      const { submissions } = await answer.json();
      if (search !== this.search) return;
      const there = new Set([...this.rows.children].map((each) => each.dataset.key));
      const more = submissions.filter((each) => !there.has(each.key)).slice(0, ROWS);
      this.most += ROWS;
      this.rows.append(...more.map(row));
      this.older.hidden = more.length < ROWS;
      if (more.length) last.nextElementSibling.querySelector("a").focus({ preventScroll: true });
    } catch (error) {
      say(this.note, error.message);
    } finally {
      this.older.disabled = false;
    }
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
  const verdict = h("span", {}, badge(one.verdict), one.suspect ? h("b", { class: "suspect", title: "accepted, but fails an audit test" }, " suspect") : null);
  const cells = [clock(one.time), verdict, name, visible(one.client) || "–", reward, one.failure_kind ?? `${one.passed} / ${one.total}`, one.cached ? "cached" : seconds(one.graded_seconds), one.cached ? "–" : seconds(one.queued_seconds)];
  const kinds = ["time", "verdict", "id", "client", "reward number", "passed number", "graded number", "waited number"];
  return h("tr", { "data-key": one.key, "data-time": one.time }, cells.map((cell, index) => h("td", { class: kinds[index] }, cell)));
}
