// The overview: figures, two charts of the last 15 minutes, workers, faults and slow suites.

import { Chart } from "./charts.js";
import { VERDICTS, bytes, h, number, say, seconds, share } from "./dom.js";
import { live } from "./service.js";

const RATE_BUCKETS = 2; // complete buckets from which the rate is computed

/** The last minutes' buckets by start time, kept even while another page is shown. */
const past = { buckets: new Map(), size: 5, count: 180 };
let now = null;

live.addEventListener("history", ({ detail }) => {
  past.size = detail.bucket_seconds;
  past.count = detail.count;
  past.buckets = new Map(detail.buckets.map((bucket) => [bucket.start, bucket]));
});

live.addEventListener("now", ({ detail }) => {
  now = detail;
  for (const bucket of detail.buckets) past.buckets.set(bucket.start, bucket);
  for (const start of past.buckets.keys()) if (start < range().first) past.buckets.delete(start);
});

function range() {
  const last = Math.floor(now.time / past.size) * past.size;
  return { first: last - (past.count - 1) * past.size, last, size: past.size, now: now.time };
}

/** The sum of several buckets or columns. */
function sum(buckets) {
  const total = { verdicts: {}, all: 0, queued: 0, longest: 0 };
  for (const bucket of buckets) {
    for (const [verdict, count] of Object.entries(bucket.verdicts)) {
      total.verdicts[verdict] = (total.verdicts[verdict] ?? 0) + count;
      total.all += count;
    }
    total.queued += bucket.queued_seconds;
    total.longest = Math.max(total.longest, bucket.longest_queued_seconds);
  }
  return total;
}

const counted = (verdicts) => Object.keys(VERDICTS).filter((name) => verdicts[name]).map((name) => `${number(verdicts[name])} ${name}`).join(", ");

// --- the page

export class Overview {
  constructor() {
    this.tiles = {};
    this.verdicts = new Chart({
      title: "Verdicts",
      unit: "submissions per second",
      isStacked: true,
      series: Object.keys(VERDICTS).map((name) => ({ kind: name, value: (column) => column.rates[name] ?? 0 })),
      group: (found, length) => {
        const { verdicts, all } = sum(found);
        return { verdicts, all, rates: Object.fromEntries(Object.entries(verdicts).map(([name, count]) => [name, count / length])) };
      },
      format: number,
      readout: (column, columns) => (column ? `${number(column.all / column.length)} per second: ${counted(column.verdicts) || "nothing"}` : inAll(columns)),
      summary: ofAll,
    });
    this.waits = new Chart({
      title: "Wait for a slot",
      unit: "mean and longest",
      series: [
        { kind: "longest", isArea: true, value: (column) => column.longest },
        { kind: "mean", value: (column) => column.mean },
      ],
      group: (found) => {
        const { all, queued, longest } = sum(found);
        return { all, longest, mean: all ? queued / all : 0 };
      },
      format: seconds,
      readout: (column, columns) => (column ? `mean ${seconds(column.mean)}, longest ${seconds(column.longest)}` : longestOf(columns)),
      summary: longestOf,
    });
    this.legend = h("ul", { class: "legend", "aria-label": "Verdicts of the last 15 minutes" });
    this.verdicts.element.append(this.legend);
    this.workers = h("div", {});
    this.slowest = h("div", {});
    this.trouble = h("dl", { class: "pairs" });
    this.events = h("dl", { class: "pairs" });
    this.element = h(
      "div",
      { class: "overview" },
      h("h1", { class: "unseen" }, "Overview"),
      h("div", { class: "tiles" }, ["Throughput", "Slots", "Waiting", "Oldest", "Accepted", "Faults"].map((name) => this.tile(name))),
      h("div", { class: "charts" }, this.verdicts.element, this.waits.element),
      h(
        "div",
        { class: "cards" },
        h("div", { class: "column" }, card("Workers", this.workers, "workers"), card("Faults and flips", this.trouble, "", "since this process started"), card("Queue", this.events)),
        card("Slowest suites", this.slowest),
      ),
    );
    this.update = () => now && this.show();
    live.addEventListener("now", this.update);
    this.update();
  }

  leave() {
    live.removeEventListener("now", this.update);
  }

  tile(name) {
    const value = h("b", {}, "–");
    const note = h("small", {}, "\u00a0");
    this.tiles[name] = (text, about = "\u00a0") => (say(value, text), say(note, about));
    return h("div", { class: "card tile" }, h("span", {}, name), value, note);
  }

  show() {
    const shown = range();
    const { last } = shown;
    const recent = sum([...past.buckets.values()].filter((bucket) => bucket.start >= last - RATE_BUCKETS * past.size && bucket.start < last));
    const all = sum(past.buckets.values());
    const rated = all.all - (all.verdicts.IE ?? 0);
    const { pending } = now;
    this.tiles.Throughput(`${number(recent.all / (RATE_BUCKETS * past.size))} /s`, all.all ? `${number(all.all)} in 15 min` : "nothing in 15 min");
    this.tiles.Slots(`${now.busy} / ${now.slots}`, "busy / all");
    this.tiles.Waiting(number(pending.waiting), pending.submissions ? `${number(pending.submissions)} pending, ${bytes(pending.bytes)}, ≈ ${seconds(pending.cpu_seconds)} CPU` : "nothing pending");
    this.tiles.Oldest(pending.submissions ? seconds(pending.oldest_seconds) : "–", "not yet answered");
    this.tiles.Accepted(share(all.verdicts.AC ?? 0, rated), rated ? `${number(all.verdicts.AC ?? 0)} of ${number(rated)} judged` : undefined);
    this.tiles.Faults(share(all.verdicts.IE ?? 0, all.all), `${number(all.verdicts.IE ?? 0)} without a verdict`);
    this.verdicts.update(past.buckets, shown);
    this.waits.update(past.buckets, shown);
    this.showLegend(all);
    this.showWorkers();
    this.showSlowest();
    this.showTrouble();
    pairs(this.events, Object.entries(now.counts).sort().map(([name, count]) => [name, number(count)]), "Nothing unusual has happened.");
  }

  showLegend({ verdicts, all }) {
    const found = Object.keys(VERDICTS).filter((name) => verdicts[name]);
    redrawn(this.legend, JSON.stringify(verdicts), () =>
      found.map((name) => h("li", {}, h("i", { class: `v-${name}` }), `${name} `, h("b", {}, number(verdicts[name])), ` ${share(verdicts[name], all)}`)),
    );
  }

  showWorkers() {
    redrawn(this.workers, JSON.stringify(now.workers), () => {
      if (!now.workers.length) return [h("p", { class: "soft" }, "No worker has reported.")];
      const rows = now.workers.map((worker) => [
        h("span", { class: "name" }, worker.name, worker.reasons.length ? h("small", { class: "wrong" }, worker.reasons.join("; ")) : null),
        meter(worker.busy, worker.slots),
        `${worker.ready} / ${worker.slots}`,
        worker.languages.join(", ") || "–",
        worker.version || "–",
      ]);
      return [table(["Name", "Busy", "Ready", "Languages", "Version"], rows, [2])];
    });
  }

  showSlowest() {
    redrawn(this.slowest, JSON.stringify(now.slowest), () => {
      if (!now.slowest.length) return [h("p", { class: "soft" }, "Nothing has been graded yet.")];
      const most = now.slowest[0].seconds / now.slowest[0].submissions;
      const rows = now.slowest.map((pace) => {
        const mean = pace.seconds / pace.submissions;
        return [h("code", { title: pace.suite }, pace.suite.replace("sha256:", "").slice(0, 12)), meter(mean, most, seconds(mean)), seconds(pace.longest_seconds), number(pace.tests), number(pace.submissions)];
      });
      return [table(["Suite", "Mean", "Longest", "Tests", "Graded"], rows, [2, 3, 4])];
    });
  }

  showTrouble() {
    const flips = [["rechecked", number(now.rechecks)], ["flipped", now.rechecks ? `${number(now.flips)} (${share(now.flips, now.rechecks)})` : "0"]];
    const faults = Object.entries(now.faults).sort(([, a], [, b]) => b - a);
    pairs(this.trouble, [...flips, ...faults.map(([kind, count]) => [kind, number(count)])]);
  }
}

const inAll = (columns) => {
  const total = columns.reduce((sofar, column) => sofar + column.all, 0);
  return total ? `${number(total)} in the last 15 minutes` : "Nothing in the last 15 minutes";
};

const ofAll = (columns) => {
  const verdicts = {};
  for (const column of columns) for (const [name, count] of Object.entries(column.verdicts)) verdicts[name] = (verdicts[name] ?? 0) + count;
  return [inAll(columns), counted(verdicts)].filter(Boolean).join(": ");
};

const longestOf = (columns) => {
  const longest = columns.reduce((most, column) => Math.max(most, column.longest), 0);
  return columns.some((column) => column.all) ? `Longest wait in the last 15 minutes: ${seconds(longest)}` : "Nothing in the last 15 minutes";
};

export function card(title, body, kind = "", about = "") {
  return h("section", { class: `card ${kind}` }, h("h2", {}, title, about && h("small", { class: "soft" }, ` ${about}`)), body);
}

function meter(value, most, text = `${value} / ${most}`) {
  const bar = h("progress", { max: most || 1, value, "aria-hidden": "true" });
  return h("span", { class: "meter" }, bar, h("span", {}, text));
}

/** A table; the columns in `figures` are right-aligned. */
function table(heads, rows, figures) {
  const kind = (index) => ({ class: figures.includes(index) ? "number" : null });
  return h(
    "div",
    { class: "scroll" },
    h("table", {}, h("thead", {}, h("tr", {}, heads.map((head, index) => h("th", { scope: "col", ...kind(index) }, head)))), h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, index) => h("td", kind(index), cell)))))),
  );
}

function pairs(list, said, none = "") {
  redrawn(list, JSON.stringify(said), () => (said.length ? said.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))) : [h("p", { class: "soft" }, none)]));
}

/** Redraws the element only if its state has changed. */
function redrawn(element, state, draw) {
  if (element.said === state) return;
  element.said = state;
  element.replaceChildren(...draw());
}

