// node's own doors: internal bindings, native modules, inspector, worker threads in numbers, wasi. Must fail or change nothing.
// proctor: {"expect": ["WA", "RTE", "MLE", "TLE"]}
try {
  require('fs').copyFileSync('/usr/lib/x86_64-linux-gnu/libm.so.6', '/tmp/own.node');
  process.dlopen({ exports: {} }, '/tmp/own.node');
  console.log('ESCAPED loaded machine code');
} catch (refused) { if (/did not self-register/.test(refused.message)) console.log('ESCAPED loaded machine code'); }
try { process.setuid(0); console.log('ESCAPED setuid'); } catch { /* refused */ }
try { process.binding('spawn_sync').spawn({ file: '/bin/sh', args: ['sh', '-c', 'echo ESCAPED'], stdio: [] }).pid && console.log('ESCAPED'); } catch { /* refused */ }
try { require('inspector').open(9229, '0.0.0.0'); } catch { /* refused */ }
console.log('held');
