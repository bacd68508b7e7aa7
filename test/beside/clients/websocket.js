// A server of WebSockets that echoes ("serve PORT"), or a client that reads URLs whose last part names the case.
const {WebSocket, WebSocketServer} = require(process.env.CLIENTS + '/node_modules/ws');
const deflate = {threshold: 0};
if (process.argv[2] === 'serve') {
  new WebSocketServer({host: '127.0.0.1', port: +process.argv[3], perMessageDeflate: deflate,
    handleProtocols: (offered) => offered.has('two') && 'two'}).on('connection', (socket) => socket.on('error', () => {})
      .on('message', (data, binary) => (data.toString() === 'close' ? socket.close(4001, 'as asked') : socket.send(data, {binary}))))
      .on('listening', () => console.log('ready'));
  return;
}
const cases = {
  deflate: [{perMessageDeflate: deflate}, 'a'.repeat(1000)], plain: [{perMessageDeflate: false}, 'hello'],
  context: [{perMessageDeflate: {...deflate, serverNoContextTakeover: true, clientNoContextTakeover: true, serverMaxWindowBits: 10}}, 'b'.repeat(1000)],
  protocol: [{perMessageDeflate: false, protocols: ['one', 'two']}, 'hello'], closed: [{perMessageDeflate: false}, 'close'],
  binary: [{perMessageDeflate: false}, Buffer.alloc(70000, 1)], empty: [{perMessageDeflate: deflate}, ''],
  origin: [{perMessageDeflate: false, origin: 'http://a.example', headers: {cookie: 'a=1'}}, 'hello'],
};
require('readline').createInterface({input: process.stdin}).on('line', (url) => {
  const [{protocols = [], ...options}, message] = cases[url.split('/').pop()];
  const socket = new WebSocket(url.replace('http', 'ws'), protocols, {...options, handshakeTimeout: 1500});
  const timer = setTimeout(() => socket.terminate(), 2000);
  let seen = '';
  socket.on('open', () => (seen += `open ${socket.extensions} ${socket.protocol}`, socket.send(message)))
      .on('message', (data) => (seen += ` ${data.length}`, socket.ping(), socket.close(1000, 'done')))
      .on('error', (e) => (seen += ' ' + e.message))
      .on('close', (code, reason) => (clearTimeout(timer), process.stdout.write(JSON.stringify(`${seen} ${code} ${reason}`) + '\n')));
});
