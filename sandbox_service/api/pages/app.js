// Entry point: selects the page, and shows what all pages share: the service's state, the API key and the theme.

import { clock, h, say } from "./dom.js";
import { Overview } from "./overview.js";
import { Playground } from "./playground.js";
import { forgetKey, hasKey, listen, live } from "./service.js";
import { Problems } from "./problems.js";
import { Submission } from "./submission.js";
import { Submissions } from "./submissions.js";

const main = document.getElementById("main");
let shown = null;
let given = null; // a draft for the playground

// --- pages

function page() {
  const [path, ...query] = location.hash.slice(1).split("?");
  const [name, ...rest] = path.split("/");
  if (name === "submissions" && rest[0]) return ["submissions", new Submission(rest.join("/"), tryIt)];
  if (name === "submissions") return ["submissions", new Submissions(query.join("?"))];
  if (name === "problems") return ["problems", new Problems(query.join("?"))];
  if (name === "playground") return ["playground", new Playground(taken())];
  return ["overview", new Overview()];
}

function taken() {
  const found = given;
  given = null;
  return found;
}

function tryIt(draft) {
  given = draft;
  location.hash = "#playground";
}

function turn() {
  shown?.leave();
  const [name, found] = page();
  shown = found;
  main.replaceChildren(found.element);
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${name} · proctor`;
}

addEventListener("hashchange", () => {
  if (location.hash === "#main") return main.focus();
  turn();
  scrollTo(0, 0);
  main.focus({ preventScroll: true });
});

addEventListener("keydown", (event) => {
  if (event.key === "Escape" && location.hash.startsWith("#submissions/") && !document.querySelector("dialog[open]")) location.hash = "#submissions";
});

// --- the service's state

const state = document.getElementById("state");
const banners = document.getElementById("banners");
let last = null;

live.addEventListener("now", ({ detail }) => {
  last = detail;
  const word = detail.ready ? (detail.pending.submissions ? "Grading" : "Ready") : "Not ready";
  tell(detail.ready ? "good" : "bad", word, [
    !detail.ready && ["bad", "Nothing can be graded now: ", detail.reasons.join("; ") || "no reason was given"],
    detail.is_open_to_all && ["bad", "Open to everybody: ", "the service listens beyond this machine without API keys. Anyone who reaches it can run programs and read expected answers. Set SANDBOX_API_KEYS."],
    detail.notes.length > 0 && ["soft", "Reduced protection: ", detail.notes.join("; ")],
  ]);
  say(document.getElementById("process"), `${detail.is_fleet ? "One API process of a fleet" : "One machine"}; charts are those of process ${detail.process}`);
});

live.addEventListener("away", ({ detail }) => {
  const since = last ? ` The data shown is from ${clock(last.time)}.` : "";
  const isKey = detail.status === 401;
  const text = isKey ? detail.message : `${detail.message}${since} Retrying automatically.`;
  tell("off", isKey ? "No API key" : "Offline", [["bad", "", text, isKey && h("button", { type: "button", onclick: askAgain }, "Enter an API key")]]);
});

function askAgain() {
  tell("", "Connecting", []);
  listen.again?.();
}

function tell(kind, word, said) {
  state.className = `state ${kind}`;
  say(state.lastElementChild, word);
  document.getElementById("key").hidden = !hasKey();
  const wanted = said.filter(Boolean);
  const text = JSON.stringify(wanted.map((one) => one.slice(0, 3)));
  if (banners.said === text) return;
  banners.said = text;
  banners.replaceChildren(...wanted.map(([tone, title, about, action]) => h("p", { class: `banner ${tone}` }, title && h("b", {}, title), h("span", {}, about), action)));
}

document.getElementById("key").addEventListener("click", () => {
  forgetKey();
  location.reload();
});

// --- light or dark

const THEMES = ["auto", "light", "dark"];
const button = document.getElementById("theme");

function showTheme() {
  const theme = document.documentElement.dataset.theme ?? "auto";
  say(button, { auto: "◐", light: "○", dark: "●" }[theme]);
  button.setAttribute("aria-label", `Colours: ${theme}`);
  button.title = `Colours: ${theme}`;
}

button.addEventListener("click", () => {
  const root = document.documentElement;
  const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? "auto") + 1) % THEMES.length];
  if (next === "auto") delete root.dataset.theme;
  else root.dataset.theme = next;
  localStorage.setItem("theme", next);
  showTheme();
});

showTheme();
turn();
listen();
