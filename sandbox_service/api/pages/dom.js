// Helpers to build elements. Text always becomes a text node, so submitted text cannot become markup.

const SVG = "http://www.w3.org/2000/svg";

/** Returns an element. Attributes are text, booleans or listeners (`onclick`); children are nodes or text. */
export function h(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** Returns an SVG element. */
export function s(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null && child !== false));
  return element;
}

/** Sets the text if it changes, so that selections and screen readers are not disturbed. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// --- number formats

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** Three significant digits. */
export function number(value) {
  if (!Number.isFinite(value)) return "–";
  if (Number.isInteger(value) || Math.abs(value) >= 100) return WHOLE.format(value);
  return value === 0 ? "0" : String(Number(value.toPrecision(3)));
}

export function seconds(value) {
  if (value == null) return "–";
  if (value === 0) return "0";
  if (value < 0.001) return `${number(value * 1e6)} µs`;
  if (value < 1) return `${number(value * 1000)} ms`;
  if (value < 120) return `${number(value)} s`;
  return value < 7200 ? `${number(Math.round(value / 60))} min` : `${number(value / 3600)} h`;
}

export function bytes(value) {
  if (value < 1024) return `${value} B`;
  const power = Math.min(Math.floor(Math.log2(value) / 10), 4);
  return `${number(value / 1024 ** power)} ${["", "KiB", "MiB", "GiB", "TiB"][power]}`;
}

export function share(part, whole) {
  if (!whole) return "–";
  const percent = (100 * part) / whole;
  return `${percent > 0 && percent < 0.1 ? "< 0.1" : percent > 99.9 && percent < 100 ? "> 99.9" : Number(percent.toFixed(1))} %`;
}

/** The time of day of a Unix time. */
export function clock(time) {
  return new Date(time * 1000).toLocaleTimeString("en-GB");
}

// --- verdicts

export const VERDICTS = {
  AC: "accepted",
  WA: "wrong answer",
  TLE: "time limit exceeded",
  MLE: "memory limit exceeded",
  OLE: "output limit exceeded",
  RTE: "runtime error",
  CE: "compile error, or no program",
  IE: "internal error: a fault of the service or the tests",
};

export function badge(verdict) {
  const kind = verdict in VERDICTS ? verdict : "IE";
  return h("span", { class: `badge v-${kind}`, title: VERDICTS[verdict] ?? verdict }, verdict);
}
