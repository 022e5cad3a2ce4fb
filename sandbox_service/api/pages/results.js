// A grade, test by test: input, expected output, actual output and their difference.

import { badge, bytes, h, number, seconds } from "./dom.js";
import { drawn, plain, visible } from "./difference.js";

const OPENED = 3; // failed tests that are unfolded at first

/** `tests`: results, each with `kind`, `input` and `expected` if its test is known. */
export function results(tests, checker) {
  let opened = 0;
  return h("div", { class: "results" }, tests.map((test) => one(test, checker, test.verdict !== "AC" && opened++ < OPENED)));
}

function one(test, checker, isOpen) {
  const facts = [seconds(test.cpu_seconds) + " CPU", seconds(test.wall_seconds) + " wall", bytes(test.peak_memory_bytes)];
  const summary = h("summary", {}, badge(test.verdict), h("span", { class: "index" }, `Test ${test.index}`), h("span", { class: "facts" }, facts.join(" · ")), h("span", { class: "ended" }, ending(test)));
  const made = h("details", { class: "test" }, summary);
  const fill = () => made.children.length === 1 && made.append(...inside(test, checker).filter(Boolean));
  made.addEventListener("toggle", fill); // filled when opened: there may be thousands
  if (isOpen) {
    made.open = true;
    fill();
  }
  return made;
}

function inside(test, checker) {
  return [
    test.message ? h("p", { class: "message" }, visible(test.message)) : null,
    h("div", { class: "panes" }, panes(test)),
    differs(test) ? part("Difference: − expected and missing, + printed", drawn(test.expected[0], test.stdout, checker, test.stdout_truncated || test.expected_truncated), true) : null,
    test.stderr ? part("Standard error", plain(test.stderr), true) : null,
  ];
}

function ending(test) {
  if (test.signal != null) return `signal ${test.signal}`;
  return test.exit_code ? `exit status ${test.exit_code}` : "";
}

const differs = (test) => test.kind === "stdin" && test.verdict === "WA" && test.expected.length > 0;

function panes(test) {
  const output = part(`Output${test.stdout_truncated ? " (truncated)" : ""}`, plain(test.stdout));
  if (test.kind === undefined) return [h("p", { class: "soft" }, "The test is no longer available."), output];
  if (test.kind === "assert") return [part("Test program", plain(test.input)), output];
  const expected = test.expected.length > 1 ? `Expected, any of ${test.expected.length}` : `Expected${test.expected_truncated ? " (truncated)" : ""}`;
  return [part(test.kind === "call" ? "Call" : "Input", plain(test.input)), part(expected, test.expected.map((each) => plain(each))), output];
}

function part(title, body, isWide = false) {
  return h("section", { class: isWide ? "part wide" : "part" }, h("h4", {}, title), body);
}

/** The headline: verdict, reward, count of passed tests, times. */
export function headline(grade) {
  const reward = grade.reward == null ? "no reward: masked" : `reward ${number(grade.reward)}`;
  const times = `graded in ${seconds(grade.graded_seconds)} after waiting ${seconds(grade.queued_seconds)}`;
  return h("p", { class: "headline" }, badge(grade.verdict), h("b", {}, reward), grade.suspect ? h("b", { class: "suspect" }, "suspect: fails an audit test") : "", h("span", {}, `${grade.passed} of ${grade.total} passed`), h("span", { class: "soft" }, grade.cached ? "from the cache" : times));
}

/** A test's input and expected outputs from its JSON, in the format of /v1/recent. */
export function described(test) {
  const json = (value) => JSON.stringify(value);
  if (test.type === "call") {
    const call = (name, values) => `${name}(${values.join(", ")})`;
    const named = Object.entries(test.kwargs ?? {}).map(([name, value]) => `${name}=${json(value)}`);
    const input = test.calls ? test.calls.map(([name, values]) => call(name, values.map(json))).join("\n") : call(test.function, [...(test.args ?? []).map(json), ...named]);
    return { kind: "call", input, expected: [json(test.output)] };
  }
  if (test.type === "assert") return { kind: "assert", input: test.code, expected: [] };
  return { kind: "stdin", input: test.input ?? "", expected: [test.output].flat() };
}
