// What was answered of late: a list that grows at its top, and one submission with all its tests.

import { VERDICTS, badge, clock, h, number, say, seconds } from "./dom.js";
import { plain, visible } from "./difference.js";
import { card } from "./overview.js";
import { headline, results } from "./results.js";
import { ask, live } from "./service.js";

const MOST_ROWS = 100;
const LEAST_MILLISECONDS = 1500; // between two looks at the list

const filter = { verdict: "", client: "" }; // as it was when the list was left

export class Submissions {
  constructor() {
    this.verdict = h("select", { onchange: () => this.again() }, h("option", { value: "" }, "all"), Object.keys(VERDICTS).map((name) => h("option", {}, name)));
    this.client = h("input", { type: "search", placeholder: "any", spellcheck: "false", onchange: () => this.again() });
    this.verdict.value = filter.verdict;
    this.client.value = filter.client;
    this.pause = h("button", { type: "button", "aria-pressed": "false", onclick: () => this.toggle() }, "Pause");
    this.rows = h("tbody", { onkeydown: (event) => this.step(event) });
    this.note = h("p", { class: "soft", role: "status" });
    const heads = ["Time", "Verdict", "Submission", "Client", "Passed", "Graded", "Waited"];
    this.element = h(
      "div",
      {},
      h("div", { class: "head" }, h("h1", {}, "Submissions"), h("p", { class: "soft" }, "As this API process answered them; the last 50 of each verdict.")),
      h("div", { class: "row filters" }, h("label", {}, "Verdict ", this.verdict), h("label", {}, "Client ", this.client), this.pause),
      h("div", { class: "card scroll list" }, h("table", { class: "rows" }, h("thead", {}, h("tr", {}, heads.map((head, index) => h("th", { scope: "col", class: index > 3 ? "number" : null }, head)))), this.rows), this.note),
    );
    this.look = ({ detail }) => this.perhaps(detail);
    live.addEventListener("now", this.look);
    this.again();
  }

  leave() {
    live.removeEventListener("now", this.look);
  }

  again() {
    filter.verdict = this.verdict.value;
    filter.client = this.client.value.trim();
    this.process = null;
    this.fetch();
  }

  toggle() {
    this.isPaused = !this.isPaused;
    this.pause.setAttribute("aria-pressed", String(this.isPaused));
    say(this.pause, this.isPaused ? "Go on" : "Pause");
    if (!this.isPaused) this.again();
  }

  perhaps({ process, last }) {
    const isNew = process !== this.process || last > this.last;
    if (isNew && !this.isPaused && !this.isAsking && Date.now() - this.asked > LEAST_MILLISECONDS) this.fetch();
  }

  async fetch() {
    const turn = (this.turn = {});
    Object.assign(this, { isAsking: true, asked: Date.now() });
    try {
      const answer = await ask(`v1/recent?${new URLSearchParams({ ...filter, after: this.process ? this.last : 0, limit: MOST_ROWS })}`);
      const found = await answer.json();
      if (turn === this.turn) this.take(found);
    } catch (error) {
      if (turn === this.turn) say(this.note, error.message);
    } finally {
      if (turn === this.turn) this.isAsking = false;
    }
  }

  /** New rows on top; those that are there stay as they are, focus and all. */
  take({ process, last, submissions }) {
    if (this.process && process !== this.process) return this.again();
    if (!this.process) this.rows.replaceChildren();
    Object.assign(this, { process, last });
    this.rows.prepend(...submissions.map(row));
    while (this.rows.children.length > MOST_ROWS) this.rows.lastElementChild.remove();
    say(this.note, this.rows.children.length ? "" : filter.verdict || filter.client ? "None is like that." : "None yet. Try one in the playground.");
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
  const cells = [clock(one.time), badge(one.verdict), name, visible(one.client) || "–", one.failure_kind ?? `${one.passed} / ${one.total}`, one.cached ? "cached" : seconds(one.graded_seconds), one.cached ? "–" : seconds(one.queued_seconds)];
  const kinds = ["time", "verdict", "id", "client", "passed number", "graded number", "waited number"];
  return h("tr", {}, cells.map((cell, index) => h("td", { class: kinds[index] }, cell)));
}

// --- one of them

export class Submission {
  constructor(key, tryIt) {
    this.body = h("div", { "aria-busy": "true" }, h("p", { class: "soft" }, "Loading…"));
    this.element = h("div", {}, h("p", {}, h("a", { href: "#submissions", class: "back" }, "← Submissions")), this.body);
    this.tryIt = tryIt;
    this.fetch(key);
  }

  leave() {}

  async fetch(key) {
    try {
      const answer = await ask(`v1/recent/${encodeURIComponent(key)}`);
      this.show(await answer.json());
    } catch (error) {
      this.body.replaceChildren(h("p", { class: "banner bad" }, error.status === 404 ? "It is not known here any more: only the last few are kept." : error.message));
    }
    this.body.removeAttribute("aria-busy");
  }

  show(one) {
    const checker = one.asked.checker ?? {};
    const missing = one.run - one.tests.length;
    this.body.replaceChildren(
      h("h1", { class: "id" }, visible(one.id)),
      headline(one),
      one.failure_reason ? h("p", { class: "message" }, `${one.failure_kind}: ${visible(one.failure_reason)}`) : "",
      h("div", { class: "cards" }, card("About", facts(one))),
      card("Program", h("div", {}, one.is_completion ? h("p", { class: "soft" }, "A model's whole answer, from which the program was taken.") : null, one.is_whole ? plain(one.program) : h("p", { class: "soft" }, "Too large to be kept."), this.offer(one)), "program"),
      h("h2", {}, `Tests`, h("small", { class: "soft" }, ` ${number(one.run)} run of ${number(one.total)}${missing > 0 ? `; ${number(one.tests.length)} shown, those that failed first` : ""}`)),
      one.tests.length ? results(one.tests, checker) : h("p", { class: "soft" }, "No test was run."),
    );
  }

  /** Only what is here as a whole can be tried again. */
  offer(one) {
    const isWhole = one.is_whole && !one.is_completion && one.tests.length && one.tests.every((test) => test.kind === "stdin" && !test.expected_truncated && test.input.length < 4096);
    if (!isWhole || one.tests.some((test) => test.expected.length !== 1)) return null;
    const tests = one.tests.map(({ input, expected }) => ({ input, output: expected[0] }));
    return h("button", { type: "button", onclick: () => this.tryIt({ code: one.program, tests, checker: one.asked.checker, limits: one.asked.limits }) }, "Open in the playground");
  }
}

function facts(one) {
  const { grader } = one;
  const said = {
    Answered: new Date(one.time * 1000).toLocaleString("en-GB"),
    Client: visible(one.client) || "–",
    "API key": one.api_key || "none",
    Interpreter: grader.language || "–",
    Host: grader.host || "–",
    Attempts: grader.attempts ?? "–",
    Suite: h("code", { title: one.suite }, one.suite.replace("sha256:", "").slice(0, 16)),
    "Its tests": number(one.suite_tests),
    ...Object.fromEntries(Object.entries(one.asked).map(([name, value]) => [name, JSON.stringify(value)])),
    ...Object.fromEntries(Object.entries(one.labels).map(([name, value]) => [`label ${visible(name)}`, visible(value)])),
  };
  return h("dl", { class: "pairs many" }, Object.entries(said).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}
