// Everything that can be read but for the system's own folders, printed. The answer must not be in it.
// proctor: {"expect": ["WA", "RTE", "OLE", "TLE", "MLE"]}
const fs = require('fs');
console.log(process.env, process.argv);
const show = (path) => {
  try {
    const fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    const text = Buffer.alloc(4096);
    fs.writeSync(1, text, 0, fs.readSync(fd, text));
    fs.closeSync(fd);
  } catch { /* refused */ }
};
const walk = (folder, depth) => {
  let names = [];
  try { names = fs.readdirSync(folder, { withFileTypes: true }); } catch { return; }
  for (const each of names) {
    const path = folder + (folder === '/' ? '' : '/') + each.name;
    if (/^\/(usr|sys)(\/|$)/.test(path)) continue;
    if (each.isDirectory() && depth < 4) walk(path, depth + 1);
    else if (each.isFile()) show(path);
  }
};
walk('/tmp', 0);
walk('/', 0);
for (const path of ['/tmp/../etc/x', '/usr/x', '/proc/sys/kernel/core_pattern', '/proc/self/oom_score_adj'])
  try { fs.writeFileSync(path, '-1000'); console.log('ESC' + 'APED wrote ' + path); } catch { /* refused */ }
