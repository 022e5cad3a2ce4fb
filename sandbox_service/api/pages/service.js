// Access to the service: requests with the API key, and the stream of events.

const KEY = "key";
const AGAIN_MILLISECONDS = [500, 1000, 2000, 4000];
const SILENCE_MILLISECONDS = 6000; // without an event, of which there is one a second

export class ServiceError extends Error {
  /** An error response. `status`: 0 if there was no response. */
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

export const hasKey = () => sessionStorage.getItem(KEY) !== null;
export const forgetKey = () => sessionStorage.removeItem(KEY);

/** Sends a request, and asks the user for a key if one is required. Returns the response or throws ServiceError. */
export async function ask(path, options = {}) {
  for (;;) {
    await asking; // wrong keys are counted, so no other request tries one meanwhile
    const used = sessionStorage.getItem(KEY);
    const response = await sent(path, options, used);
    if (response.status !== 401) return checked(response);
    if (used !== sessionStorage.getItem(KEY)) continue; // another request has received a key meanwhile
    if (!(await keyGiven(used === null ? "" : "This API key is wrong.")))
      throw new ServiceError("An API key is required.", 401);
  }
}

async function sent(path, options, key) {
  const headers = { ...options.headers, ...(key === null ? {} : { Authorization: `Bearer ${key}` }) };
  try {
    return await fetch(path, { ...options, headers, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServiceError("The service does not answer.");
  }
}

async function checked(response) {
  if (response.ok) return response;
  const said = await response.json().catch(() => null);
  throw new ServiceError(said?.error?.message ?? `The service answered ${response.status}.`, response.status);
}

// --- the key

let asking = null;

/** Asks the user for a key, once for all requests that need one. Resolves to whether one was given. */
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

/** Other characters cannot be sent in a header. */
const isSendable = (key) => /^[\x21-\x7e\xa1-\xff]+$/.test(key);

// --- events

/** Dispatches `history` and `now` with the event's data, and `away` with the error. */
export const live = new EventTarget();

/** Listens for ever, except while the page is hidden. */
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
    return { some, why: new ServiceError("The service has stopped.") };
  } catch (error) {
    return { some, why: error instanceof ServiceError ? error : new ServiceError("The service does not answer.") };
  } finally {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", hidden);
    stop.abort();
  }
}

/** Yields server-sent events: blocks of lines separated by blank lines. */
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
