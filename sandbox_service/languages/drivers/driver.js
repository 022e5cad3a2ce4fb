// Makes the calls that stdin asks for, and writes each result as a line of JSON.
// It is the body of a function of `require`, the table of the submission's functions, and the hints of their nodes.
const fs = require("fs");
const input = fs.readFileSync(0);
const { stringify } = JSON;
const writeSync = fs.writeSync;
const exit = process.exit.bind(process);
let position = 0;

function line() {
  const end = input.indexOf(10, position);
  const found = input.latin1Slice(position, end);
  position = end + 1;
  return found;
}

const token = line();

function say(text) {
  const bytes = Buffer.from("\n" + token + text + "\n");
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(1, bytes, done);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error; // a full pipe, which the program's own printing has made non-blocking
    }
  }
}

function stop(kind, why) {
  say(kind + why);
  exit(1);
}

function read() {
  const head = line();
  const rest = head.slice(1);
  switch (head[0]) {
    case "n": return null;
    case "b": return rest === "1";
    case "i": {
      const number = Number(rest);
      return Number.isSafeInteger(number) ? number : BigInt(rest);
    }
    case "d": return Number(rest);
    case "s": {
      const start = position;
      position += Number(rest) + 1;
      return input.utf8Slice(start, position - 1);
    }
    case "l": {
      const found = [];
      for (let left = Number(rest); left > 0; left--) found.push(read());
      return found;
    }
    default: {
      const found = {};
      for (let left = Number(rest); left > 0; left--) {
        const key = read();
        Object.defineProperty(found, key, { value: read(), enumerable: true, configurable: true, writable: true });
      }
      return isExact && "__js__" in found ? untagged(found) : found;
    }
  }
}

let isExact = false; // the call is of a test program, whose literals have more than JSON

function untagged({ __js__: kind, own }) {
  return kind === "bigint" ? BigInt(own) : undefined;
}

function toNodes(values) {
  if (!Array.isArray(values)) return values;
  let head = null;
  for (let index = values.length - 1; index >= 0; index--) head = new table.ListNode(values[index], head);
  return head;
}

function toTree(values) {
  if (!Array.isArray(values)) return values;
  if (!values.length || values[0] === null) return null;
  const root = new table.TreeNode(values[0]);
  const parents = [root];
  for (let index = 1, parent = 0; index < values.length && parent < parents.length; index++) {
    const child = values[index] === null ? null : new table.TreeNode(values[index]);
    parents[parent][index % 2 ? "left" : "right"] = child;
    if (child) parents.push(child);
    if (index % 2 === 0) parent++;
  }
  return root;
}

function built(hint, value) {
  if (!hint) return value;
  if (hint.startsWith("list:")) return Array.isArray(value) ? value.map((each) => built(hint.slice(5), each)) : value;
  return hint === "ListNode" ? toNodes(value) : toTree(value);
}

function nodes(first) {
  const found = [];
  const seen = new Set();
  for (let node = first; node; node = node.next) {
    if (seen.has(node)) throw new Error("the function returned a linked list with a cycle");
    seen.add(node);
    found.push(node.val);
  }
  return found;
}

function tree(root) {
  const found = [];
  const seen = new Set();
  const waiting = [root];
  for (let index = 0; index < waiting.length; index++) {
    const node = waiting[index];
    if (!node) {
      found.push(null);
      continue;
    }
    if (seen.has(node)) throw new Error("the function returned a tree in which a node is reached twice");
    seen.add(node);
    found.push(node.val);
    waiting.push(node.left, node.right);
  }
  while (found.length && found[found.length - 1] === null) found.pop();
  return found;
}

function write(value, hint) {
  if (value === null || value === undefined) return hint === "ListNode" || hint === "TreeNode" ? "[]" : "null";
  switch (typeof value) {
    case "number": return String(value);
    case "bigint": return value.toString();
    case "boolean": return String(value);
    case "string": return stringify(value);
    case "function":
    case "symbol": return stop("?", "the function returned a " + typeof value + ", which is not a plain value");
  }
  if (ArrayBuffer.isView(value)) value = Array.from(value);
  if (Array.isArray(value)) {
    const inner = hint && hint.startsWith("list:") ? hint.slice(5) : "";
    return "[" + Array.from(value, (each) => write(each, inner)).join(",") + "]"; // `map` would leave holes out
  }
  if (value instanceof Set) return '{"__set__":[' + Array.from(value, (each) => write(each, "")).join(",") + "]}";
  if (value instanceof Map) return "{" + Array.from(value, pair).join(",") + "}";
  if ("val" in value && "next" in value) return write(nodes(value), "");
  if ("val" in value && "left" in value && "right" in value) return write(tree(value), "");
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return write(value.valueOf(), "");
  return "{" + Object.entries(value).map(pair).join(",") + "}";
}

function pair([key, value]) {
  const written = write(key, "");
  return (written[0] === '"' ? written : stringify(written)) + ":" + write(value, "");
}

// for test programs, whose equality tells more values apart: see script_equality.py
function exact(value) {
  switch (typeof value) {
    case "undefined": return tagged("undefined", "null");
    case "number": return Object.is(value, -0) ? "-0.0" : String(value);
    case "bigint": return tagged("bigint", stringify(String(value)));
    case "boolean":
    case "string": return stringify(value);
    case "object": return value === null ? "null" : exactObject(value);
  }
  return tagged("other", "null");
}

function exactObject(value) {
  const keys = Object.keys(value);
  const isArray = Array.isArray(value);
  const isPlain = isArray
    ? keys.length === value.length && keys.every((key, index) => key === String(index))
    : Object.prototype.toString.call(value) === "[object Object]" && !keys.includes("__js__");
  if (!isPlain) return tagged("other", "null");
  const own = isArray
    ? "[" + keys.map((key) => exact(value[key])).join(",") + "]"
    : "{" + keys.map((key) => stringify(key) + ":" + exact(value[key])).join(",") + "}";
  const isUsual = Object.getPrototypeOf(value) === (isArray ? Array : Object).prototype;
  return isUsual && !Object.getOwnPropertySymbols(value).length ? own : tagged("instance", own);
}

function asJson(text) {
  if (text === undefined) return tagged("undefined", "null");
  return text.includes('"__js__"') ? tagged("other", "null") : text;
}

function tagged(kind, own) {
  return '{"__js__":"' + kind + '","own":' + own + "}";
}

function args(count, hinted) {
  const found = [];
  for (let index = 0; index < count; index++) found.push(built(hinted[index], read()));
  return found;
}

const kept = new Map(); // objects by their numbers

function instance(type, number) {
  if (!number) return new type();
  if (!kept.has(number)) kept.set(number, new type());
  return kept.get(number);
}

function call(kind, name, count, number) {
  const hinted = (kind === "call" && hints[name]) || [];
  let target = table[name];
  let self;
  const dot = name.lastIndexOf(".");
  if (dot >= 0) {
    const owner = table[name.slice(0, dot)];
    if (typeof owner !== "function") stop("?", "there is no class " + name.slice(0, dot));
    self = !number && typeof owner[name.slice(dot + 1)] === "function" ? owner : instance(owner, number);
    target = self[name.slice(dot + 1)];
  }
  if (typeof target !== "function" && typeof table.Solution === "function") {
    self = instance(table.Solution, number); // a method of its prototype looks like a free function
    target = self[name];
  }
  if (typeof target !== "function") stop("?", "there is no function " + name);
  const given = args(count, hinted);
  const result = target.apply(self, given);
  if (kind === "value") return exact(result);
  if (kind === "json") return asJson(stringify(result));
  if (result !== undefined) return written(result, hinted[hinted.length - 1]);
  const changed = given.findIndex((each) => each !== null && typeof each === "object");
  return changed < 0 ? Promise.resolve("null") : written(given[changed], hinted[changed]);
}

async function written(result, hint) {
  return write(result && typeof result.then === "function" ? await result : result, hint || "");
}

async function object(name, left) {
  const type = table[name];
  if (typeof type !== "function") stop("?", "there is no class " + name);
  const count = Number(line().split(" ")[1]);
  const self = new type(...args(count, hints[name] || []));
  const found = ["null"];
  while (--left > 0) {
    const [method, given] = line().split(" ");
    if (typeof self[method] !== "function") stop("?", "there is no method " + method);
    const hinted = hints[name + "." + method] || [];
    found.push(await written(self[method](...args(Number(given), hinted)), hinted[hinted.length - 1]));
  }
  return "[" + found.join(",") + "]";
}

async function main() {
  for (let left = Number(line()); left > 0; left--) {
    const [kind, name, count, number] = line().split(" ");
    isExact = kind === "value" || kind === "json";
    say("=" + (await (kind === "class" ? object(name, Number(count)) : call(kind, name, Number(count), number))));
  }
}

main().then(
  () => exit(0),
  (error) => {
    console.error(error);
    exit(1);
  },
);
