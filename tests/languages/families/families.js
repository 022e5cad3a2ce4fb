// Attacks by what node has. The first word of the input names the one to run; `clean` looks for what one left.
const fs = require('fs');
const escaped = (what) => fs.writeSync(1, `ESCAPED ${what}\n`);
const refused = (what, act) => { try { if (act() !== false) escaped(what); } catch { /* refused */ } };
const quiet = (act) => { try { return act(); } catch { return undefined; } };
const late = (emitter) => emitter.on('error', () => {});

const families = {
  bindings() {
    for (const name of ['spawn_sync', 'process_wrap', 'tcp_wrap', 'pipe_wrap', 'udp_wrap', 'inspector', 'contextify', 'fs', 'os'])
      quiet(() => process.binding(name));
    quiet(() => new (process.binding('process_wrap').Process)().spawn({ file: '/bin/sh', args: ['sh', '-c', 'echo ESCAPED'], stdio: [] }));
    refused('fork', () => require('child_process').fork('/tmp/main.js').pid !== undefined);
    refused('cluster', () => require('cluster').fork().process.pid !== undefined);
    refused('exec', () => (require('child_process').execSync('echo ESCAPED'), true));
  },
  workers() {
    const { Worker } = require('worker_threads');
    for (let i = 0; i < 4; i++)
      late(new Worker("require('fs').writeSync(1, 'from a worker\\n'); process.exit(0)", { eval: true, env: { A: '1' }, execArgv: [], stdin: true }));
  },
  flags() {
    const v8 = require('v8');
    v8.setFlagsFromString('--allow-natives-syntax');
    quiet(() => new Function('%DebugPrint(1)')());
    quiet(() => v8.setFlagsFromString('--max-old-space-size=100000'));
    refused('a snapshot elsewhere', () => v8.writeHeapSnapshot('/usr/x.heapsnapshot') && true);
    refused('a report elsewhere', () => process.report.writeReport('/usr/report.json').startsWith('/usr/') && fs.existsSync('/usr/report.json'));
    process.title = 'another';
    quiet(() => process.setgid(0));
    refused('groups', () => process.setgroups([0]));
    refused('priority', () => require('os').setPriority(0, -20));
  },
  inspector() {
    const inspector = require('inspector');
    quiet(() => inspector.open(0, '127.0.0.1'));
    if (inspector.url()) escaped('an inspector listens');
    const session = new inspector.Session();
    session.connect();
    session.post('Runtime.evaluate', { expression: "process.kill(process.ppid || 1, 'SIGTERM')" });
  },
  network() {
    for (const make of [
      () => late(require('net').createServer().listen(0)),
      () => late(require('net').createServer().listen('/tmp/socket')),
      () => late(require('dgram').createSocket('udp4').bind(0)),
      () => late(require('http').get('http://169.254.169.254/latest')),
      () => late(require('tls').connect(443, '1.1.1.1')),
    ])
      quiet(() => make().on('listening', () => escaped('listens')).on('connect', () => escaped('connected')));
    require('dns').lookup('example.com', (error) => { if (!error) escaped('resolved a name'); });
  },
  signals() {
    for (const name of Object.keys(require('os').constants.signals)) quiet(() => process.on(name, () => {}));
    for (const pid of [-1, -2, -3, 4000, 30000]) refused(`a signal to ${pid}`, () => process.kill(pid, 'SIGTERM'));
  },
  files() {
    for (const path of ['/proc/1/mem', '/proc/self/mem', '/proc/self/exe', '/usr/bin/node', '/etc/passwd', '/proc/self/comm'])
      refused(`wrote ${path}`, () => fs.writeSync(fs.openSync(path, 'r+'), 'x'));
    for (const path of ['/root', '/home', '/var', '/srv', '/proc/1/root/root', '/tmp/../root'])
      refused(`lists ${path}`, () => fs.readdirSync(path).length > 0);
    for (let i = 0; i < 300; i++) quiet(() => fs.writeFileSync(`/tmp/left${i}`, 'x'));
    quiet(() => fs.symlinkSync('/proc/self/fd/1', '/dev/shm/left'));
    process.umask(0);
    for (let i = 0; i < 300; i++) quiet(() => fs.openSync('/dev/null'));
  },
  addresses() { // reserved memory: only what is touched may be had
    const all = [];
    for (let i = 0; i < 40; i++) quiet(() => all.push(new WebAssembly.Memory({ initial: 1, maximum: 65536 })));
    for (const each of all) quiet(() => new Uint8Array(each.buffer).fill(1));
  },
  output() {
    fs.ftruncateSync(1, 1000000);
    process.stdout.write = () => true;
    process.exit = () => {};
    Object.defineProperty(process, 'exitCode', { get: () => 0, set() {} });
    quiet(() => fs.writeSync(0, 'changed'));
  },
  aborts() { process.abort(); },
  rejected() { Promise.reject(new Error('never handled')); },
  breaks() { require('v8').setFlagsFromString('--allow-natives-syntax'); new Function('%SystemBreak()')(); },
  clean() {
    const left = [...fs.readdirSync('/tmp'), ...(quiet(() => fs.readdirSync('/dev/shm')) ?? [])].filter((each) => each !== 'main.js');
    if (left.length) escaped(`left ${left}`);
    if (process.umask() !== 0o22 || process.title === 'another') escaped('the process is another');
    console.log('clean');
  },
};
families[fs.readFileSync(0, 'utf8').trim()]();
