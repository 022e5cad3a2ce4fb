// Other programs, signals and cluster workers by the ways that node has. Must fail.
// proctor: {"expect": ["WA", "RTE"]}
const child = require('child_process');
for (const [name, given] of [['/bin/sh', ['-c', 'echo ESCAPED']], [process.execPath, ['-e', 'console.log("ESCAPED")']]]) {
  const made = child.spawnSync(name, given, { stdio: 'inherit' });
  if (made.pid && !made.error) console.log('ESCAPED started ' + name);
}
const own = new Set(require('fs').readdirSync('/proc/self/task'));
for (let pid = 1; pid < 2000; pid++) {
  if (own.has(String(pid))) continue;
  try { process.kill(pid, 'SIGKILL'); console.log('ESCAPED killed ' + pid); } catch { /* refused */ }
}
console.log('held');
