// Memory beside the heap of JavaScript: buffers, shared buffers, WebAssembly. The limit must hold.
// proctor: {"expect": ["MLE", "RTE", "TLE"], "full": true}
const all = [];
let total = 0;
const makes = [
  () => Buffer.alloc(1 << 26, 1).length,
  () => new Uint8Array(new SharedArrayBuffer(1 << 26)).fill(1).length,
  () => new Uint8Array(new WebAssembly.Memory({ initial: 1024, maximum: 1024 }).buffer).fill(1).length,
];
for (let round = 0; round < 8; round++)
  for (const make of makes)
    try { total += make(); all.push(make); } catch (refused) { if (round === 7) throw refused; }
const kept = [];
for (;;) { kept.push(Buffer.alloc(1 << 26, 1)); total += 1 << 26; if (total > 2 ** 32) console.log('ESCAPED'); }
