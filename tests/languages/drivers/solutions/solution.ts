declare var process: any;
const add = (a: number, b: number): number => { process.stdout.write("adding\n="); return a + b; };
const big = (x: number): number => x;
function negated(x: boolean): boolean { return !x; }
const half = (x: number): number => x / 2;
const joined = (a: string, b: string, c: string): string => a + b + c;
const first = (text: string): string => text[0];
const words = (all: string[]): string[] => all.sort();
function table(rows: number[][]): number[][] { return rows; }
function reversed(head: ListNode | null): ListNode | null {
  let before: ListNode | null = null;
  while (head) { const next = head.next; head.next = before; before = head; head = next; }
  return before;
}
function lists(all: Array<ListNode | null>): Array<ListNode | null> { return all; }
function mirrored(root: TreeNode | null): TreeNode | null {
  if (!root) return root;
  const left = root.left;
  root.left = mirrored(root.right);
  root.right = mirrored(left);
  return root;
}
function turn(board: string[][]): void { board.reverse(); }
const total = (values: number[]): number => values.reduce((sum, each) => sum + each, 0);
function same(values: number[]): number[] { return values; }
function fail(x: number): number { throw new Error("failed on purpose"); }
class Counter {
  private count: number;
  constructor(start: number) { this.count = start; }
  get(): number { return this.count; }
  addAll(values: number[]): void { for (const each of values) this.count += each; }
}
