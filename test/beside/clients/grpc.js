// A gRPC server ("serve PORT"), or a client that reads URLs whose last part names the case, and writes one line for each.
const grpc = require(process.env.CLIENTS + '/node_modules/@grpc/grpc-js');
const bytes = {requestSerialize: (b) => b, requestDeserialize: (b) => b, responseSerialize: (b) => b, responseDeserialize: (b) => b};
const method = (name, requestStream, responseStream) => ({path: '/beside.Echo/' + name, requestStream, responseStream, ...bytes});
const service = {
  Unary: method('Unary', false, false), Server: method('Server', false, true),
  Client: method('Client', true, false), Both: method('Both', true, true),
};
const odd = new grpc.Metadata();
odd.set('x-text', 'a, b');
odd.set('x-data-bin', Buffer.from([0, 1, 255]));

if (process.argv[2] === 'serve') {
  const server = new grpc.Server();
  server.addService(service, {
    Unary(call, end) {
      const text = call.request.toString();
      if (text === 'error') {
        return end({code: grpc.status.FAILED_PRECONDITION, details: 'not now: 50% \u00e9\n', metadata: odd});
      }
      if (text === 'head') {
        call.sendMetadata(odd);
      }
      if (text !== 'slow') {
        end(null, text === 'large' ? Buffer.alloc(100000, 'z') : call.request, odd);
      }
    },
    Server(call) {
      call.write(Buffer.from('1'));
      call.write(Buffer.alloc(0));
      if (call.request.toString() === 'error') {
        call.emit('error', {code: grpc.status.ABORTED, details: 'in the middle', metadata: odd});
      } else {
        call.write(Buffer.from('3'));
        call.end(odd);
      }
    },
    Client(call, end) {
      let count = 0;
      call.on('data', () => count++).on('end', () => end(null, Buffer.from('' + count)));
    },
    Both(call) {
      call.on('data', (part) => call.write(part)).on('end', () => call.end());
    },
  });
  server.bindAsync('127.0.0.1:' + process.argv[3], grpc.ServerCredentials.createInsecure(), () => console.log('ready'));
  return;
}
const clients = new Map();
require('readline').createInterface({input: process.stdin}).on('line', (line) => {
  const url = new URL(line), name = url.pathname.split('/').pop();
  if (!clients.has(url.host)) {
    clients.set(url.host, new (grpc.makeGenericClientConstructor(service))(url.host, grpc.credentials.createInsecure()));
  }
  const client = clients.get(url.host), seen = [];
  const options = {deadline: Date.now() + (name === 'deadline' ? 200 : 2000)};
  let over = false;
  const end = (status) => {
    if (!over) {
      over = true;
      const fields = status.metadata?.getMap() ?? {};
      process.stdout.write(JSON.stringify(`${status.code} ${/deadline/i.test(status.details) ? 'deadline' : status.details} ` +
          `${seen} ${Object.keys(fields).filter((key) => key.startsWith('x-')).sort()}`) + '\n');
    }
  };
  const heard = (call) => (call.on('data', (part) => seen.push(part.length)).on('status', end).on('error', () => {}), call);
  const unary = (text, metadata = new grpc.Metadata(), more = {}) => client.Unary(Buffer.from(text), metadata, {...options, ...more},
      (error, answer) => (seen.push(answer?.length), error && end(error))).on('status', (status) => end(status));
  const stream = (call, ...parts) => {
    heard(call);
    parts.forEach((part) => call.write(Buffer.from(part)));
    call.end();
  };
  ({
    unary: () => unary('hello'), error: () => unary('error'), head: () => unary('head'), large: () => unary('large'),
    empty: () => unary(''), deadline: () => unary('slow'), metadata: () => unary('hello', odd),
    upload: () => unary('u'.repeat(300000)),
    cancel: () => {
      const call = unary('slow');
      setTimeout(() => call.cancel(), 50);
    },
    server: () => heard(client.Server(Buffer.from('ok'), options)),
    'server-error': () => heard(client.Server(Buffer.from('error'), options)),
    client: () => {
      const call = client.Client(new grpc.Metadata(), options, (error, answer) => seen.push(answer?.toString()));
      call.on('status', end);
      ['a', 'b', 'c'].forEach((part) => call.write(Buffer.from(part)));
      call.end();
    },
    both: () => stream(client.Both(options), 'a', 'bb', ''), 'both-empty': () => stream(client.Both(options)),
    unknown: () => client.makeUnaryRequest('/beside.Echo/None', (b) => b, (b) => b, Buffer.alloc(0), new grpc.Metadata(), options,
        (error) => error && end(error)),
  })[name]();
});
