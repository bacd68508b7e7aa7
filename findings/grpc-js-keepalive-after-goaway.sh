#!/usr/bin/env bash
# @grpc/grpc-js 1.14.7 (npm), a client with keepalive_time_ms, and a server with max_connection_age_ms.
#
# The guess: the server's GOAWAY ends no call. It is sent with NO_ERROR so that the client opens another connection for its next calls, and
# those that run have max_connection_age_grace_ms to end; pings of keepalive are for finding dead connections, and the server answers.
#
# What it does: once Node's session has a GOAWAY, it refuses to send a ping, which the client takes for a dead connection: at the next ping all
# calls that run end with UNAVAILABLE, "Connection dropped". Without keepalive, or without a GOAWAY, they end well. Seen, for a call of
# 4 s, a connection age of 1 s with a grace of 60 s, and a ping each second:
#   neither: OK
#   keepalive: OK
#   connection age: OK
#   keepalive and connection age: UNAVAILABLE Connection dropped
#
# Needs Node 20 or later. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit @grpc/grpc-js@1.14.7
cat > finding.js <<'JS'
const grpc = require('@grpc/grpc-js');
const bytes = value => value;
const method = {
  path: '/finding.Finding/Slow', requestStream: false, responseStream: false,
  requestSerialize: bytes, requestDeserialize: bytes, responseSerialize: bytes, responseDeserialize: bytes
};
const call = (keepalive, age) => new Promise((resolve, reject) => {
  const server = new grpc.Server(age ? { 'grpc.max_connection_age_ms': 1000, 'grpc.max_connection_age_grace_ms': 60_000 } : {});
  server.addService({ Slow: method }, { Slow: (request, answer) => setTimeout(() => answer(null, request.request), 4000) });
  server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) => {
    if (error) return reject(error);
    const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), keepalive ? { 'grpc.keepalive_time_ms': 1000 } : {});
    client.makeUnaryRequest(method.path, bytes, bytes, Buffer.from('hello'), new grpc.Metadata(), { deadline: Date.now() + 60_000 }, failure => {
      client.close();
      server.forceShutdown();
      resolve(failure ? `${grpc.status[failure.code]} ${failure.details}` : 'OK');
    });
  });
});
(async () => {
  console.log(`neither: ${await call(false, false)}`);
  console.log(`keepalive: ${await call(true, false)}`);
  console.log(`connection age: ${await call(false, true)}`);
  console.log(`keepalive and connection age: ${await call(true, true)}`);
})();
JS
node finding.js > seen
cat seen
diff seen - <<'EXPECTED'
neither: OK
keepalive: OK
connection age: OK
keepalive and connection age: UNAVAILABLE Connection dropped
EXPECTED
