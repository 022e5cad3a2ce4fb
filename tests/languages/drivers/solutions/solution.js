const add = (a, b) => { process.stdout.write("adding\n="); return a + b; };
const big = (x) => x;
var negated = function (x) { return !x; };
const half = (x) => x / 2;
const joined = (a, b, c) => a + b + c;
const first = (text) => text[0];
const words = (all) => all.sort();
export function table(rows) { return rows; }
/**
 * @param {ListNode} head
 * @return {ListNode}
 */
var reversed = function (head) {
  let before = null;
  while (head) { [head.next, before, head] = [before, head, head.next]; }
  return before;
};
/**
 * @param {ListNode[]} all
 * @return {ListNode[]}
 */
var lists = function (all) { return all; };
/**
 * @param {TreeNode} root
 * @return {TreeNode}
 */
var mirrored = function (root) {
  if (!root) return root;
  [root.left, root.right] = [mirrored(root.right), mirrored(root.left)];
  return root;
};
function turn(board) { board.reverse(); }
const total = (values) => values.reduce((sum, each) => sum + each, 0);
async function same(values) { return values; }
function fail(x) { throw new Error("failed on purpose"); }
class Counter {
  constructor(start) { this.count = start; }
  get() { return this.count; }
  addAll(values) { for (const each of values) this.count += each; }
}
module.exports = { add };
