// The difference between actual and expected output, line by line, readable without colour. Expected lines are green,
// printed ones red, and white space is visible in both.

import { h } from "./dom.js";

const MOST_CELLS = 1_000_000; // of the table for the longest common subsequence
const SHOWN_AROUND = 3;

// invisible characters and those that change the text's direction are shown by name
const PICTURES = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

export function visible(text) {
  return text.replace(PICTURES, (found) => {
    const code = found.codePointAt(0);
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return code === 0x7f ? "␡" : `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** A text in a box; `none` if it is empty. */
export function plain(text, none = "nothing") {
  if (!text) return h("p", { class: "soft" }, none);
  return h("pre", { dir: "ltr", tabindex: 0 }, visible(text));
}

const NORMAL = {
  exact: (line) => line,
  lines: (line) => line.trimEnd(),
  unordered_lines: (line) => line.trimEnd(),
};

/** The part of a line that the checker compares. */
function compared(line, checker) {
  const normal = (NORMAL[checker.type] ?? ((text) => text.trim().split(/\s+/).join(" ")))(line);
  return checker.ignore_case ? normal.toLowerCase() : normal;
}

/** Returns [mark, line] pairs: "−" is missing, "+" is extra, " " is equal. */
export function difference(expected, got, checker) {
  const [wanted, said] = [expected, got].map((text) => lines(text, checker));
  const [keys, others] = [wanted, said].map((all) => all.map((line) => compared(line, checker)));
  let begin = 0;
  while (begin < keys.length && begin < others.length && keys[begin] === others[begin]) begin++;
  let end = 0;
  while (end < keys.length - begin && end < others.length - begin && keys.at(-1 - end) === others.at(-1 - end)) end++;
  const middle = between(keys.slice(begin, keys.length - end), others.slice(begin, others.length - end));
  const marked = middle.map(([mark, index]) => [mark, mark === "−" ? wanted[begin + index] : said[begin + index]]);
  return [...said.slice(0, begin).map((line) => [" ", line]), ...marked, ...said.slice(said.length - end).map((line) => [" ", line])];
}

function lines(text, checker) {
  const all = text.split("\n");
  if (checker.type === "exact") return all;
  while (all.length && !all.at(-1).trim()) all.pop();
  return checker.type === "unordered_lines" ? all.sort() : all;
}

/** The longest common subsequence by dynamic programming; empty if the table would be too large. */
function between(wanted, said) {
  const [rows, columns] = [wanted.length, said.length];
  const taken = [];
  let [row, column] = [0, 0];
  if (rows * columns <= MOST_CELLS) {
    const wide = columns + 1;
    const best = new Uint16Array((rows + 1) * wide);
    for (let i = rows - 1; i >= 0; i--)
      for (let j = columns - 1; j >= 0; j--)
        best[i * wide + j] = wanted[i] === said[j] ? best[(i + 1) * wide + j + 1] + 1 : Math.max(best[(i + 1) * wide + j], best[i * wide + j + 1]);
    while (row < rows && column < columns) {
      if (wanted[row] === said[column]) taken.push([" ", (row++, column++)]);
      else if (best[(row + 1) * wide + column] >= best[row * wide + column + 1]) taken.push(["−", row++]);
      else taken.push(["+", column++]);
    }
  }
  while (row < rows) taken.push(["−", row++]);
  while (column < columns) taken.push(["+", column++]);
  return taken;
}

const KINDS = { "−": ["missing", "expected"], "+": ["extra", "printed"], " ": ["same", ""] };

const areEqual = (all) => all.every(([mark]) => mark === " ");

/** Renders the difference; long runs of equal lines are omitted. Lines that are equal for the checker are compared exactly. */
export function drawn(expected, got, checker, isCut) {
  const all = [checker, { type: "exact" }].map((each) => difference(expected, got, each)).find((each) => !areEqual(each));
  if (!all) return h("p", { class: "soft" }, isCut ? "No difference in the part shown." : "No difference.");
  const near = all.map((_, index) => all.slice(Math.max(0, index - SHOWN_AROUND), index + SHOWN_AROUND + 1).some(([mark]) => mark !== " "));
  const rows = [];
  for (let index = 0; index < all.length; index++) {
    if (near[index]) rows.push(drawnLine(...all[index]));
    else {
      const from = index;
      while (index + 1 < all.length && !near[index + 1]) index++;
      rows.push(h("div", { class: "skipped" }, `${index - from + 1} equal ${index === from ? "line" : "lines"}`));
    }
  }
  return h("div", { class: "difference", tabindex: 0, role: "group", "aria-label": "Difference, line by line" }, rows);
}

function drawnLine(mark, line) {
  const [kind, word] = KINDS[mark];
  return h("div", { class: kind }, h("span", { class: "sign", "aria-hidden": "true" }, mark), word && h("span", { class: "unseen" }, `${word}: `), h("code", { dir: "ltr" }, mark === " " ? visible(line) || " " : withBlanks(line)));
}

const BLANKS = { " ": "·", "\t": "→\t" };

/** A line that differs: blanks as signs, and the sign ¶ for an empty line. */
function withBlanks(line) {
  if (!line) return [h("span", { class: "blank" }, "¶")];
  return visible(line).split(/([ \t]+)/).filter(Boolean).map((part) => (part[0] in BLANKS ? h("span", { class: "blank" }, [...part].map((blank) => BLANKS[blank]).join("")) : part));
}
