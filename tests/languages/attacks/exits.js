// Success at every end: exit codes, handlers, a replaced console. No exit status pays.
// proctor: {"expect": ["WA"]}
process.on('exit', () => { process.exitCode = 0; });
process.on('uncaughtException', () => process.exit(0));
process.reallyExit = () => {};
console.log = () => {};
throw new Error('never seen');
