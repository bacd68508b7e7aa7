// Clients of Node: reads URLs from its input, and writes one line for each response.
const kind = process.argv[2];
const done = (text) => process.stdout.write(JSON.stringify(text) + '\n');
const calls = {
  http(url, end) {
    const agent = calls.agent ??= new (require('http').Agent)({keepAlive: true});
    const request = require('http').get(url, {agent, timeout: 1500}, (response) => {
      let body = '';
      response.setEncoding('latin1').on('data', (part) => (body += part)).on('error', (e) => end('error ' + e.code))
          .on('end', () => end(`${response.statusCode} ${body.slice(0, 60)} ${JSON.stringify(response.trailers)}`));
    });
    request.on('upgrade', (response, socket) => (socket.destroy(), end('upgrade')));
    request.on('timeout', () => request.destroy(new Error('timeout'))).on('error', (e) => end('error ' + (e.code ?? e.message)));
  },
  http2(url, end) {
    const session = require('http2').connect(url);
    session.on('error', (e) => end('error ' + e.code));
    const stream = session.request({':path': new URL(url).pathname});
    let status, body = '', trailers;
    stream.setTimeout(1500, () => (stream.destroy(), end('timeout')));
    stream.setEncoding('latin1').on('response', (head) => (status = head[':status'])).on('data', (part) => (body += part))
        .on('trailers', (fields) => (trailers = {...fields})).on('error', (e) => end('error ' + e.code))
        .on('end', () => (end(`${status} ${body.slice(0, 60)} ${JSON.stringify(trailers)}`), session.close()));
    stream.end();
  },
  async undici(url, end) {
    try {
      const {request} = require(process.env.CLIENTS + '/node_modules/undici');
      const {statusCode, body, trailers} = await request(url, {headersTimeout: 1500, bodyTimeout: 1500});
      end(`${statusCode} ${(await body.text()).slice(0, 60)} ${JSON.stringify(trailers)}`);
    } catch (e) {
      end('error ' + e.code);
    }
  },
};
require('readline').createInterface({input: process.stdin}).on('line', (url) => {
  let over = false;
  calls[kind](url, (text) => over || ((over = true), done(text)));
});
