// Connections and name resolution. Must fail.
// proctor: {"expect": ["WA", "RTE", "TLE"]}
const net = require('net');
for (const host of ['127.0.0.1', '169.254.169.254', '8.8.8.8'])
  for (const port of [53, 80, 6379, 8080]) {
    const socket = net.connect({ host, port, timeout: 200 }, () => console.log('ESCAPED connected to ' + host));
    socket.on('error', () => {}).on('timeout', () => socket.destroy());
  }
net.connect('/run/dbus/system_bus_socket', () => console.log('ESCAPED connected')).on('error', () => {});
const interfaces = Object.keys(require('os').networkInterfaces()).filter((name) => name !== 'lo');
if (interfaces.length) console.log('ESCAPED sees ' + interfaces);
