// One submission: why it has its reward, its program, and all of its tests.

import { h, number } from "./dom.js";
import { plain, visible } from "./difference.js";
import { card } from "./overview.js";
import { headline, results } from "./results.js";
import { ask } from "./service.js";
import { found } from "./submissions.js";

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
      this.body.replaceChildren(h("p", { class: "banner bad" }, error.status === 404 ? "This submission is no longer available: only the most recent ones are kept." : error.message));
    }
    this.body.removeAttribute("aria-busy");
  }

  show(one) {
    const checker = one.asked.checker ?? {};
    const missing = one.run - one.tests.length;
    this.body.replaceChildren(
      h("div", { class: "head" }, h("h1", { class: "id" }, visible(one.id)), copying()),
      headline(one),
      why(one),
      h("div", { class: "cards" }, card("About", facts(one))),
      h("div", { class: one.is_completion ? "pair-of-texts" : "" }, this.program(one), one.is_completion ? card("Completion", h("div", {}, h("p", { class: "soft" }, "The model's whole answer."), plain(one.completion)), "program") : null),
      h("h2", {}, `Tests`, h("small", { class: "soft" }, ` ${number(one.run)} run of ${number(one.total)}${missing > 0 ? `; ${number(one.tests.length)} shown, failed ones first` : ""}`)),
      one.tests.length ? results(one.tests, checker) : h("p", { class: "soft" }, one.is_whole ? "No test was run." : "The results are no longer kept."),
    );
  }

  program(one) {
    const note = one.is_completion ? h("p", { class: "soft" }, `Extracted from the completion by the rule ${one.extraction}.`) : null;
    const text = one.is_whole ? plain(one.program, "There is no program.") : h("p", { class: "soft" }, "Too large, or no longer kept.");
    return card("Program", h("div", {}, note, text, this.offer(one)), "program");
  }

  /** A button to try the submission again, if all of it is available. */
  offer(one) {
    const isWhole = one.is_whole && one.program && one.tests.length && one.tests.every((test) => test.kind === "stdin" && !test.expected_truncated && test.input.length < 4096);
    if (!isWhole || one.tests.some((test) => test.expected.length !== 1)) return null;
    const tests = one.tests.map(({ input, expected }) => ({ input, output: expected[0] }));
    return h("button", { type: "button", onclick: () => this.tryIt({ code: one.program, tests, checker: one.asked.interactor ?? one.asked.checker, limits: one.asked.limits }) }, "Open in the playground");
  }
}

/** The reason for the reward, in words: a fault, the submission's own message, or the test that decided. */
function why(one) {
  const deciding = one.tests.find((test) => test.index === one.decided_by);
  const said = [];
  if (one.failure_reason) said.push(`${one.failure_kind}: ${visible(one.failure_reason)}`);
  if (one.message) said.push(visible(one.message));
  if (deciding) said.push(`Test ${deciding.index} decided: ${deciding.verdict}${deciding.message ? `, ${visible(deciding.message)}` : ""}`);
  if (one.forgeable) said.push("The test program ran in one process with the submission, which could have forged the verdict.");
  if (one.provoked) said.push("The judge failed on what the submission wrote, and does not fail without that.");
  said.push(...one.notes.map(visible));
  return h("div", { class: "why" }, said.map((text) => h("p", { class: "message" }, text)));
}

function copying() {
  const button = h("button", { type: "button", class: "quiet", onclick: () => navigator.clipboard.writeText(location.href).then(() => (button.textContent = "Copied")) }, "Copy link");
  return navigator.clipboard ? button : null; // browsers offer it to https and to this machine only
}

function facts(one) {
  const { grader } = one;
  const suite = h("a", { href: found({ suite: one.suite }), title: `${one.suite}: all submissions of this suite` }, h("code", {}, one.suite.replace("sha256:", "").slice(0, 16)));
  const said = {
    Answered: new Date(one.time * 1000).toLocaleString("en-GB"),
    Client: visible(one.client) || "–",
    "API key": one.api_key || "none",
    Language: grader.language || "–",
    Host: grader.host || "–",
    Attempts: grader.attempts ?? "–",
    Suite: suite,
    "Tests in suite": number(one.suite_tests),
    Checker: one.asked.checker?.type ?? "standard",
    ...(one.score == null ? {} : { Score: number(one.score) }),
    ...Object.fromEntries(one.groups.map((group) => [`group ${visible(group.name)}`, `${number(group.score)} of ${number(group.points)}`])),
    ...Object.fromEntries(Object.entries(one.asked).map(([name, value]) => [name, JSON.stringify(value).slice(0, 500)])),
    ...Object.fromEntries(Object.entries(one.labels).map(([name, value]) => [`label ${visible(name)}`, h("a", { href: found({ label: `${name}=${value}` }) }, visible(value))])),
  };
  return h("dl", { class: "pairs many" }, Object.entries(said).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}
