#!/usr/bin/env bash
# simple-hl7 3.3.0 (npm), HL7 version 2 over TCP (MLLP), and a receiver that takes half a second for its acknowledgement, as one does that
# starts meanwhile.
#
# The guess: a client has one message on its way. A second one is refused, "Can't send while awaiting response", and so may be sent again once
# the first one's callback has been called. An acknowledgement names the message that it is for (MSA-2).
#
# What it does: the one that it refuses is sent all the same, so a program that sends it again has it processed twice. The acknowledgement of
# the first goes to the callback of the second, which so gets "AA" (accepted) although this receiver rejects it ("AE"); the first one's
# callback is never called. Seen:
#   the receiver got: M1 M2
#   callback of M1: nothing
#   callback of M2: Error: Can't send while awaiting response, AA of M1
#   one after the other, the receiver got: M1 M2; callback of M1: AA of M1; callback of M2: AE of M2
#
# Needs Node 20 or later, and npm. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts simple-hl7@3.3.0
cat > finding.cjs <<'JS'
const net = require('net');
const {once} = require('events');
const hl7 = require('simple-hl7');

/** Acknowledges each message after half a second: M1 is accepted, any other is rejected. */
function receiver(got) {
  return net.createServer(socket => {
    let text = '';
    socket.on('error', () => {});
    socket.on('data', part => {
      text += part;
      for (let end = text.indexOf('\x1c\r'); end >= 0; end = text.indexOf('\x1c\r')) {
        const id = text.slice(0, end).split('|')[9];
        text = text.slice(end + 2);
        got.push(id);
        setTimeout(() => socket.write(`\x0bMSH|^~\\&|R|R|S|S|20260101||ACK^A01|A${id}|P|2.5\rMSA|${id === 'M1' ? 'AA' : 'AE'}|${id}\r\x1c\r`), 500);
      }
    });
  }).listen(0, '127.0.0.1');
}

async function send(isAtOnce) {
  const got = [];
  const calls = {M1: [], M2: []};
  const server = receiver(got);
  await once(server, 'listening');
  const client = hl7.Server.createTcpClient('127.0.0.1', server.address().port);
  for (const id of ['M1', 'M2']) {
    const message = new hl7.Parser().parse(`MSH|^~\\&|S|S|R|R|20260101||ADT^A01|${id}|P|2.5\rEVN|A01|20260101`);
    const answered = new Promise(done => client.send(message, (error, ack) => {
      calls[id].push(error ? String(error) : ack.getSegment('MSA').fields.map(field => field.toString()).join(' of '));
      done();
    }));
    // The connection is open, and the first message is on its way.
    await (isAtOnce ? new Promise(done => setTimeout(done, 200)) : answered);
  }
  await new Promise(done => setTimeout(done, 2000));
  server.close();
  return [got.join(' '), ...Object.values(calls).map(all => all.join(', ') || 'nothing')];
}

(async () => {
  const [got, first, second] = await send(true);
  const next = await send(false);
  const seen = [`the receiver got: ${got}`, `callback of M1: ${first}`, `callback of M2: ${second}`,
    `one after the other, the receiver got: ${next[0]}; callback of M1: ${next[1]}; callback of M2: ${next[2]}`].join('\n');
  console.log(seen);
  process.exit(seen === `the receiver got: M1 M2
callback of M1: nothing
callback of M2: Error: Can't send while awaiting response, AA of M1
one after the other, the receiver got: M1 M2; callback of M1: AA of M1; callback of M2: AE of M2` ? 0 : 1);
})();
JS
node finding.cjs
