// What drills share: processes, free ports, requests and the objects of a ScaledService.
'use strict';
const {execFileSync, spawn} = require('child_process');
const fs = require('fs');
const http = require('http');
const https = require('https');
const net = require('net');
const os = require('os');
const path = require('path');

const root = path.join(__dirname, '../..');
const children = [];
let folder = '';
let failed = false;

const number = (name, fallback) => Number(process.env[name] ?? fallback);
const sleep = ms => new Promise(done => setTimeout(done, ms));

const freePort = () => new Promise(done => {
  const server = net.createServer().listen(0, '127.0.0.1', () => {
    const {port} = server.address();
    server.close(() => done(port));
  });
});

function logs() {
  folder ||= fs.mkdtempSync(path.join(os.tmpdir(), `${path.basename(process.argv[1])}-`));
  return folder;
}

function start(name, command) {
  const log = fs.openSync(path.join(logs(), `${name}.log`), 'a');
  const child = spawn(command[0], command.slice(1), {cwd: root, stdio: ['ignore', log, log], detached: true});
  children.push(child);
  return child;
}

/** The API server of a kubeconfig with a token, to `send` to. */
function apiServer(kubeconfig) {
  const {clusters, users} = JSON.parse(execFileSync('kubectl', ['--kubeconfig', kubeconfig, 'config', 'view', '--raw', '--minify', '--flatten', '-o', 'json']));
  const {hostname, port} = new URL(clusters[0].cluster.server);
  return {host: hostname, port, ca: Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64'),
    headers: {Authorization: `Bearer ${users[0].user.token}`}, agent: new https.Agent({keepAlive: true})};
}

/** A response with `text`, or a failure's code as its `status`. `to` is a port, or what `apiServer` returns. */
function send(to, {host = 'localhost', method = 'GET', target = '/', headers = {}, body, json} = {}) {
  return new Promise(done => {
    const isPort = typeof to === 'number';
    const server = isPort ? {host: '127.0.0.1', port: to, agent: false} : to;
    const request = (isPort ? http : https).request({...server, method, path: target, headers: {...(isPort ? {Host: host} : {}),
      ...server.headers, ...headers, ...(json ? {'Content-Type': 'application/json'} : {})}}, response => {
      let text = '';
      response.on('data', part => text += part);
      response.on('end', () => done({status: response.statusCode, headers: response.headers, text}));
      response.on('error', failure => done({status: failure.code, headers: {}, text: ''}));
    });
    request.on('error', failure => done({status: failure.code, headers: {}, text: ''}));
    request.end(json ? JSON.stringify(json) : body);
  });
}

async function until(what, seconds, condition) {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(100)) {
    if (await condition()) {
      return;
    }
  }
  throw new Error(`not within ${seconds} s: ${what}`);
}

/** Starts the activator in embedded mode; its ports, and the process. */
async function activator(...flags) {
  const [metrics, api, autoscaler] = await Promise.all(Array.from({length: 3}, freePort));
  return {...await started(`--activator.metrics-server.port=${metrics}`, `--activator.embedded.api-port=${api}`,
    `--activator.embedded.autoscaler-port=${autoscaler}`, ...flags), api};
}

/** The same in standalone mode, for the cluster of a kubeconfig. */
async function standaloneActivator(kubeconfig, ...flags) {
  Object.assign(process.env, {KUBECONFIG: kubeconfig, ACTIVATOR_MODE: 'standalone', SYSTEM_NAMESPACE: 'system',
    POD_NAME: 'activator-0', POD_IP: '127.0.0.1'});
  return started('--server.port=0', '--activator.console.port=0', '--activator.lending.port=0',
    `--activator.standalone.stats-port=${await freePort()}`, ...flags);
}

async function started(...flags) {
  const [requests, h2c, profiling] = await Promise.all(Array.from({length: 3}, freePort));
  const child = start('activator', [...(process.env.ACTIVATOR ?? 'bin/dev run').split(' '), `--activator.port.http1=${requests}`,
    `--activator.port.h2c=${h2c}`, `--activator.profiling.port=${profiling}`, ...flags]);
  await until('the activator is ready', 600, async () => {
    if (child.exitCode !== null) {
      throw new Error('the activator has ended');
    }
    return (await send(requests, {headers: {'K-Kubelet-Probe': 'activator'}})).status === 200;
  });
  return {requests, pid: child.pid};
}

/** The process of the activator, which may have been started by a script. */
function javaBelow(pid) {
  const below = execFileSync('ps', ['-o', 'pid=,comm=', '-g', String(pid)]).toString().split('\n').filter(line => line.endsWith('java'));
  return Number(below[0]?.trim().split(/\s+/)[0] ?? pid);
}

const cpuMillis = pid => {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
};

/** Makes a Deployment, a Service and a ScaledService, of a program in JavaScript that listens on PORT. */
async function makeWeb(api, program, spec, name = 'web') {
  for (const [target, json] of [
    ['/apis/apps/v1/namespaces/default/deployments', {apiVersion: 'apps/v1', kind: 'Deployment', metadata: {name},
      spec: {replicas: 0, selector: {matchLabels: {app: name}}, template: {metadata: {labels: {app: name}},
        spec: {containers: [{name: 'web', command: [process.execPath, '-e', program],
          ports: [{name: 'http', containerPort: 8080}], readinessProbe: {httpGet: {path: '/healthz', port: 'http'}}}]}}}}],
    ['/api/v1/namespaces/default/services', {apiVersion: 'v1', kind: 'Service', metadata: {name},
      spec: {selector: {app: name}, ports: [{name: 'http', port: 80, targetPort: 'http'}]}}],
    ['/apis/activator.dev/v1alpha1/namespaces/default/scaledservices', {apiVersion: 'activator.dev/v1alpha1',
      kind: 'ScaledService', metadata: {name}, spec: {
        scaleTargetRef: {apiVersion: 'apps/v1', kind: 'Deployment', name}, serviceRef: {name, port: 'http'},
        target: {concurrency: 20}, scaleDown: {stabilizationWindowSeconds: 6}, ...spec}}]]) {
    const made = await send(api, {host: `127.0.0.1:${api}`, method: 'POST', target, json});
    if (made.status !== 201) {
      throw new Error(`${target}: ${made.status} ${made.text}`);
    }
  }
}

const replicas = async api => JSON.parse((await send(api, {
  target: '/apis/apps/v1/namespaces/default/deployments/web'})).text).spec.replicas;

/** How many had each status. */
const counts = answers => Object.entries(answers.reduce((all, one) => ({...all, [one.status]: (all[one.status] ?? 0) + 1}),
  {})).map(([status, count]) => `${count} × ${status}`).join(', ');

function check(what, isRight, detail) {
  failed ||= !isRight;
  console.log(`  ${isRight ? 'ok    ' : 'FAILED'} ${what}${detail === undefined ? '' : `: ${detail}`}`);
}

/** Runs the drill, and ends all processes. */
function run(drill) {
  drill().catch(failure => {
    failed = true;
    console.error(failure);
  }).finally(() => {
    children.forEach(child => {
      try {
        process.kill(-child.pid);
      } catch {
        // It has ended.
      }
    });
    console.log(`logs: ${logs()}`);
    process.exit(failed ? 1 : 0);
  });
}

module.exports = {activator, apiServer, check, counts, cpuMillis, freePort, javaBelow, logs, makeWeb, number, replicas, run, send, sleep, standaloneActivator, start, until};
