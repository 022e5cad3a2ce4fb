// The service as this page sees it: requests with the key, and the stream of what it says each second.

const KEY = "key";
const AGAIN_MILLISECONDS = [500, 1000, 2000, 4000];
const SILENCE_MILLISECONDS = 6000; // it says something each second

export class Trouble extends Error {
  /** What the service said instead of an answer. `status`: 0 if it said nothing. */
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

export const hasKey = () => sessionStorage.getItem(KEY) !== null;
export const forgetKey = () => sessionStorage.removeItem(KEY);

/** Ask; for a key too, where one is wanted. The answer if it is well, else Trouble. */
export async function ask(path, options = {}) {
  for (;;) {
    await asking; // a wrong key is counted, so nobody guesses beside the reader
    const used = sessionStorage.getItem(KEY);
    const response = await sent(path, options, used);
    if (response.status !== 401) return checked(response);
    if (used !== sessionStorage.getItem(KEY)) continue; // another request has learnt a key meanwhile
    if (!(await keyGiven(used === null ? "" : "That is not one of the service's keys.")))
      throw new Trouble("A key is needed to see anything here.", 401);
  }
}

async function sent(path, options, key) {
  const headers = { ...options.headers, ...(key === null ? {} : { Authorization: `Bearer ${key}` }) };
  try {
    return await fetch(path, { ...options, headers, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Trouble("The service does not answer.");
  }
}

async function checked(response) {
  if (response.ok) return response;
  const said = await response.json().catch(() => null);
  throw new Trouble(said?.error?.message ?? `The service answered ${response.status}.`, response.status);
}

// --- the key

let asking = null;

/** Have the reader give a key, once for all who want it. Whether there is one. */
function keyGiven(why) {
  asking ??= dialogClosed(why).finally(() => (asking = null));
  return asking;
}

function dialogClosed(why) {
  const dialog = document.getElementById("ask");
  const field = document.getElementById("ask-key");
  document.getElementById("ask-why").textContent = why;
  document.getElementById("ask-not").onclick = () => dialog.close("");
  field.value = "";
  dialog.returnValue = "";
  dialog.showModal();
  field.focus();
  return new Promise((resolve) => {
    dialog.onclose = () => {
      const key = field.value.trim();
      field.value = "";
      const isGiven = dialog.returnValue === "use" && isSendable(key);
      if (isGiven) sessionStorage.setItem(KEY, key);
      resolve(isGiven);
    };
  });
}

/** Others cannot be in a header, and are no keys. */
const isSendable = (key) => /^[\x21-\x7e\xa1-\xff]+$/.test(key);

// --- what it says each second

/** `history`, `now` (with what was said) and `away` (with why, and whether it will be tried again by itself). */
export const live = new EventTarget();

/** Listen for ever, but not while nobody looks. */
export async function listen() {
  for (let failures = 0; ; ) {
    await untilSeen();
    const heard = await once();
    failures = heard.some ? 0 : failures + 1;
    if (document.hidden) continue;
    live.dispatchEvent(new CustomEvent("away", { detail: heard.why }));
    if (heard.why.status === 401) await new Promise((resolve) => (listen.again = resolve));
    else await delay(AGAIN_MILLISECONDS[Math.min(failures, AGAIN_MILLISECONDS.length - 1)]);
  }
}

async function once() {
  const stop = new AbortController();
  const hidden = () => document.hidden && stop.abort();
  let some = false;
  let timer = setTimeout(() => stop.abort(), 5 * SILENCE_MILLISECONDS);
  document.addEventListener("visibilitychange", hidden);
  try {
    const response = await ask("v1/events", { signal: stop.signal });
    for await (const [name, data] of events(response.body)) {
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(), SILENCE_MILLISECONDS);
      some = true;
      live.dispatchEvent(new CustomEvent(name, { detail: data }));
    }
    return { some, why: new Trouble("The service has closed.") };
  } catch (error) {
    return { some, why: error instanceof Trouble ? error : new Trouble("The service does not answer.") };
  } finally {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", hidden);
    stop.abort();
  }
}

/** Server-sent events: blocks of lines with a blank one between them. */
async function* events(body) {
  let rest = "";
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s)));
      yield [fields.event, JSON.parse(fields.data)];
    }
  }
}

const delay = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

function untilSeen() {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
}
