// The playground: runs a program with tests, through the same route and queue as every submission.

import { h, say } from "./dom.js";
import { described, headline, results } from "./results.js";
import { ServiceError, ask, live } from "./service.js";

const INDENT = "    ";
const SHOWN_BYTES = 65_536;
const PROGRAM = "program";
const CHECKERS = ["tokens", "exact", "lines", "numbers", "json", "unordered_lines", "math", PROGRAM];
const PROTOCOLS = ["function", "testlib", "kattis", "domjudge", "codeforces-python", "scalebox"];

const SUM = [
  { input: "1 2\n", output: "3\n" },
  { input: "10 -4\n", output: "6\n" },
];
const SQUARES = [{ input: "4\n", output: "1\n4\n9\n16\n" }];
const EXAMPLES = {
  Right: { code: "a, b = map(int, input().split())\nprint(a + b)\n", tests: SUM },
  Wrong: { code: "n = int(input())\nfor i in range(n):\n    print(i * i)\n", tests: SQUARES },
  Slow: { code: "while True:\n    pass\n", tests: SUM, limits: { cpu_seconds: 1 } },
  "Leaves early": { code: "import sys\n\nprint(3)\nsys.exit(0)\n", tests: SUM },
  Fails: { code: "print(1 // 0)\n", tests: SUM },
  "A judge": {
    code: "n = int(input())\nprint(n - 1, 1)\n",
    tests: [{ input: "5\n", output: "2 3\n" }, { input: "2\n", output: "1 1\n" }],
    checker: { type: PROGRAM, protocol: "function", language: "python", source: "def check(input, output, answer):\n    parts = [int(word) for word in output.split()]\n    return len(parts) == 2 and min(parts) >= 1 and sum(parts) == int(input)\n" },
  },
  "A function": {
    code: "def double(values):\n    return [2 * value for value in values]\n",
    json: [{ type: "call", function: "double", args: [[1, 2]], output: [2, 4] }],
  },
};

/** The draft, kept while other pages are shown. */
let draft = { code: EXAMPLES.Right.code, tests: SUM };

export class Playground {
  constructor(given) {
    if (given) draft = { ...given };
    this.language = h("select", {}, h("option", {}, "python"));
    this.code = h("textarea", { class: "code", rows: 16, spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", "aria-describedby": "code-keys", onkeydown: (event) => indent(event) });
    this.rows = h("div", { class: "tests" });
    this.json = h("textarea", { class: "code", rows: 10, spellcheck: "false", wrap: "off", "aria-label": "Tests as JSON" });
    this.isJson = h("input", { type: "checkbox", onchange: () => this.change() });
    this.add = h("button", { type: "button", onclick: () => this.addTest({ input: "", output: "" }).querySelector("textarea").focus() }, "Add a test");
    this.checker = h("select", { onchange: () => this.show() }, CHECKERS.map((name) => h("option", {}, name)));
    this.protocol = h("select", {}, PROTOCOLS.map((name) => h("option", {}, name)));
    this.judgeLanguage = h("select", {}, h("option", {}, "python"));
    this.judge = h("textarea", { class: "code", rows: 8, spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", "aria-label": "Judge program", onkeydown: (event) => indent(event) });
    this.judging = h("div", { class: "judge" }, h("div", { class: "row limits" }, field("Protocol", this.protocol), field("Judge's language", this.judgeLanguage)), this.judge);
    this.tolerance = h("input", { type: "number", min: 0, step: "any", placeholder: "none" });
    this.cpu = h("input", { type: "number", min: 0.1, step: "any", value: 4, required: true });
    this.memory = h("input", { type: "number", min: 64, step: 1, value: 1024, required: true });
    this.all = h("input", { type: "checkbox", checked: true });
    this.run = h("button", { class: "main", type: "submit" }, "Run");
    this.stop = h("button", { type: "button", hidden: true, onclick: () => this.stopper?.abort() }, "Stop");
    this.said = h("div", { class: "outcome", role: "region", "aria-label": "Result" }, h("p", { class: "soft" }, "Run the program to see the result here."));
    this.status = h("p", { class: "unseen", role: "status" });
    this.form = h("form", { class: "playground", onsubmit: (event) => this.submit(event), onkeydown: (event) => this.runOnShortcut(event) }, this.left(), this.right());
    this.element = h("div", {}, h("div", { class: "head" }, h("h1", {}, "Playground"), h("div", { class: "row examples" }, h("span", { class: "soft" }, "Try"), Object.keys(EXAMPLES).map((name) => h("button", { type: "button", class: "pill", onclick: () => this.fill(EXAMPLES[name]) }, name)))), this.form);
    this.fill(draft);
    this.look = ({ detail }) => this.bound(detail.most);
    live.addEventListener("now", this.look);
    this.learnLanguages();
  }

  left() {
    return h(
      "section",
      { class: "card" },
      h("div", { class: "row spread" }, h("label", { class: "title", for: "code" }, "Program"), h("label", {}, "Language ", this.language)),
      identified(this.code, "code"),
      h("p", { class: "soft keys", id: "code-keys" }, h("kbd", {}, "Tab"), " indents, ", h("kbd", {}, "Esc"), " and then ", h("kbd", {}, "Tab"), " leaves the field, ", h("kbd", {}, "Ctrl"), " + ", h("kbd", {}, "Enter"), " runs"),
      h("div", { class: "row limits" }, field("CPU seconds", this.cpu), field("Memory, MiB", this.memory), field("Checker", this.checker), field("Tolerance", this.tolerance)),
      this.judging,
      h("div", { class: "row" }, this.run, this.stop, h("label", {}, this.all, " continue after a failure")),
    );
  }

  right() {
    return h(
      "div",
      { class: "column" },
      h("section", { class: "card" }, h("div", { class: "row spread" }, h("h2", {}, "Tests"), h("label", {}, this.isJson, " as JSON")), this.rows, this.json, this.add),
      h("section", { class: "card" }, h("h2", {}, "Result"), this.status, this.said),
    );
  }

  leave() {
    live.removeEventListener("now", this.look);
    this.stopper?.abort();
    draft = { code: this.code.value, checker: this.checking(), limits: { cpu_seconds: Number(this.cpu.value), memory_bytes: this.memory.value * 2 ** 20 }, ...(this.isJson.checked ? { text: this.json.value } : { tests: this.written() }) };
  }

  /** Fills the form: `tests` as rows, `json` as a list, or `text` as JSON text. */
  fill({ code, tests, json, text, checker, limits }) {
    this.code.value = code;
    this.checker.value = checker?.type ?? "tokens";
    this.tolerance.value = checker?.float_tolerance ?? "";
    this.fillJudge(checker?.type === PROGRAM ? checker : {});
    this.cpu.value = limits?.cpu_seconds ?? 4;
    this.memory.value = (limits?.memory_bytes ?? 2 ** 30) / 2 ** 20;
    this.isJson.checked = !tests;
    this.json.value = text ?? (json ? JSON.stringify(json, null, 2) : "");
    this.rows.replaceChildren();
    for (const test of tests ?? []) this.addTest(test);
    this.show();
  }

  /** Fills the judge's fields. What has no field, such as further files and arguments, is sent again as it is. */
  fillJudge({ type, protocol, language, source, files, main, ...rest }) {
    const { [main]: shown, ...others } = files ?? {};
    this.judgeRest = files ? { ...rest, main, files: others } : rest;
    this.protocol.value = protocol ?? "function";
    this.judgeLanguage.value = language ?? "python";
    this.judge.value = source ?? shown ?? "";
  }

  show() {
    const isProgram = this.checker.value === PROGRAM;
    this.judging.hidden = !isProgram;
    this.judge.required = isProgram;
    this.tolerance.disabled = isProgram;
    this.json.hidden = !this.isJson.checked;
    this.rows.hidden = this.add.hidden = this.isJson.checked;
  }

  /** Converts rows to JSON, or JSON to rows if every test has one text as input and one as output. */
  change() {
    if (this.isJson.checked) this.json.value = JSON.stringify(this.written(), null, 2);
    else {
      const tests = plainTests(this.json.value);
      if (!tests) {
        this.isJson.checked = true;
        return this.tell("Only tests with one text as input and one as output can be shown as rows.");
      }
      this.rows.replaceChildren();
      tests.forEach((test) => this.addTest(test));
    }
    this.show();
  }

  addTest({ input, output }) {
    const box = (name, value) => {
      const rows = Math.min(Math.max(String(value ?? "").trimEnd().split("\n").length, 2), 8);
      const area = h("textarea", { rows, spellcheck: "false", wrap: "off" });
      area.value = value ?? "";
      return h("label", {}, name, area);
    };
    const remove = h("button", { type: "button", class: "quiet", "aria-label": "Remove this test", title: "Remove", onclick: () => (made.remove(), this.add.focus()) }, "×");
    const made = h("div", { class: "pair" }, box("Input", input), box("Expected", output), remove);
    this.rows.append(made);
    return made;
  }

  written() {
    return [...this.rows.children].map((made) => {
      const [input, output] = [...made.querySelectorAll("textarea")].map((area) => area.value);
      return { type: "stdin", input, output };
    });
  }

  runOnShortcut(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.form.requestSubmit();
    }
  }

  async submit(event) {
    event.preventDefault();
    if (this.stopper) return;
    this.stopper = new AbortController();
    this.run.disabled = true;
    this.stop.hidden = false;
    this.said.replaceChildren(h("p", { class: "soft" }, "Running…"));
    say(this.status, "Running");
    try {
      await this.grade(this.stopper.signal);
    } catch (error) {
      this.tell(error.name === "AbortError" ? "Stopped." : error.message);
      if (!(error instanceof ServiceError) && error.name !== "AbortError") throw error;
    } finally {
      this.stopper = null;
      this.run.disabled = false;
      this.stop.hidden = true;
    }
  }

  async grade(signal) {
    const text = this.isJson.checked ? this.json.value : JSON.stringify(this.written());
    const tests = parsed(text);
    // the text as written: JavaScript would round large integers
    const body = `${JSON.stringify(this.submission(tests)).slice(0, -1)},"tests":${text}}`;
    const answer = await ask("v1/grade", { method: "POST", signal, headers: { "Content-Type": "application/json" }, body });
    const grade = await answer.json();
    say(this.status, `${grade.verdict}: ${grade.passed} of ${grade.total} passed`);
    const shown = grade.tests.map((result) => ({ ...result, ...described(tests[result.index]) }));
    this.said.replaceChildren(
      headline({ ...grade, ...grade.timing, cached: grade.grader.cached }),
      grade.failure_reason ? h("p", { class: "message" }, `${grade.failure_kind}: ${grade.failure_reason}`) : "",
      results(shown, this.checking()),
    );
  }

  /** The submission without its tests. A judge of interactive tests is their interactor. */
  submission(tests) {
    const isInteractor = this.checker.value === PROGRAM && tests.some(({ type }) => type === "interactive");
    return {
      language: this.language.value,
      code: this.code.value,
      [isInteractor ? "interactor" : "checker"]: this.checking(),
      limits: { cpu_seconds: Number(this.cpu.value), memory_bytes: Math.round(this.memory.value * 2 ** 20) },
      stop_on_failure: !this.all.checked,
      display_bytes: Math.min(SHOWN_BYTES, this.most?.max_display_bytes ?? 4096),
      labels: { client: "playground" },
    };
  }

  checking() {
    if (this.checker.value === PROGRAM) return this.judgeProgram();
    return { type: this.checker.value, ...(this.tolerance.value === "" ? {} : { float_tolerance: Number(this.tolerance.value) }) };
  }

  judgeProgram() {
    const { files, ...rest } = this.judgeRest;
    const program = { type: PROGRAM, protocol: this.protocol.value, language: this.judgeLanguage.value, ...rest };
    return files ? { ...program, files: { ...files, [rest.main]: this.judge.value } } : { ...program, source: this.judge.value };
  }

  tell(text) {
    say(this.status, text);
    this.said.replaceChildren(h("p", { class: "wrong" }, text));
  }

  /** Sets the limits that the service allows. */
  bound(most) {
    this.most = most;
    this.cpu.max = most.max_cpu_seconds;
    this.memory.max = Math.floor(most.max_memory_bytes / 2 ** 20);
  }

  async learnLanguages() {
    try {
      const { languages } = await (await ask("v1/languages")).json();
      const names = languages.map(({ name }) => name);
      if (!names.length) return;
      for (const select of [this.language, this.judgeLanguage]) {
        const chosen = select.value;
        select.replaceChildren(...names.map((name) => h("option", {}, name)));
        if (names.includes(chosen)) select.value = chosen;
      }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
    }
  }
}

// --- helpers

function identified(element, id) {
  element.id = id;
  return element;
}

function field(name, input) {
  return h("label", { class: "field" }, name, input);
}

/** Tab indents the selection, Shift+Tab unindents it; after Esc, Tab moves the focus. */
function indent(event) {
  const area = event.target;
  if (event.key === "Escape") area.dataset.left = "";
  else if (event.key === "Tab" && !("left" in area.dataset)) {
    event.preventDefault();
    const from = area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
    const { selectionStart: start, selectionEnd: end, value } = area;
    if (!event.shiftKey && start === end) return area.setRangeText(INDENT, start, end, "end");
    const block = value.slice(from, end);
    const changed = event.shiftKey ? block.replace(/^ {1,4}/gm, "") : block.replace(/^(?=.)/gm, INDENT);
    area.setRangeText(changed, from, end, start === end ? "end" : "select");
  } else if (event.key !== "Shift") delete area.dataset.left;
}

/** Keeps numbers as written, if the browser supports it. */
const asWritten = JSON.rawJSON && ((name, value, { source }) => (typeof value === "number" ? JSON.rawJSON(source) : value));

function parsed(text) {
  let found;
  try {
    found = JSON.parse(text, asWritten);
  } catch (error) {
    throw new ServiceError(`The tests are not JSON: ${error.message}`);
  }
  if (!Array.isArray(found)) throw new ServiceError("The tests must be a list: [{…}, …]");
  return found;
}

function plainTests(text) {
  try {
    const found = parsed(text);
    const isPlain = (test) => (test.type ?? "stdin") === "stdin" && typeof test.output === "string" && typeof (test.input ?? "") === "string";
    return found.every(isPlain) ? found : null;
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}
