// The drill of bench/drills/goodput; with the argument "pod", the program that serves its requests.
import { spawn } from 'node:child_process';
import http from 'node:http';
import { fileURLToPath } from 'node:url';

const CONCURRENCY = 2;
const SERVICE_MS = 500;

if (process.argv[2] === 'pod') {
  http.createServer((request, response) => {
    request.resume();
    setTimeout(() => response.end('served\n'), request.url === '/' ? SERVICE_MS : 0);
  }).listen(process.env.PORT, '127.0.0.1');
} else {
  await drill(...process.argv.slice(2));
}

async function drill(jar = 'target/activator.jar', seconds = '20', aSecond = '200',
    timeout = '1000') {
  const activator = start(jar);
  try {
    const { api, port } = await activator.ready;
    await createService(api);
    while (await ask(port, 30_000, '/ready') !== 200) {
      await sleep(200);
    }
    await sleep(2_000); // so that nothing of the start is left
    const counts = await load(port, Number(seconds), Number(aSecond), timeouts(timeout));
    const possible = seconds * CONCURRENCY * 1000 / SERVICE_MS;
    console.log(`${jar}: ${seconds} s, ${aSecond} a second, who leave after ${timeout} ms:`
      + ` ${counts.get(200) ?? 0} of ${possible} served;`
      + ` ${JSON.stringify(Object.fromEntries(counts))}`);
  } finally {
    // In order, so that it ends its pod.
    activator.process.removeAllListeners('exit');
    const ended = new Promise(resolve => activator.process.on('exit', resolve));
    activator.process.kill('SIGTERM');
    await ended;
  }
}

/** Starts the jar in embedded mode on free ports. */
function start(jar) {
  const { KUBECONFIG, KUBERNETES_SERVICE_HOST, ...env } = process.env;
  const ports = ['server.port', 'activator.port.http1', 'activator.port.h2c',
    'activator.port.https', 'activator.embedded.api-port', 'activator.embedded.autoscaler-port',
    'activator.profiling.port'].map(name => `--${name}=0`);
  const child = spawn(env.JAVA, ['--sun-misc-unsafe-memory-access=allow',
    '--enable-native-access=ALL-UNNAMED', '-XX:MaxRAM=600m', '-jar', jar, ...ports],
  { env: { ...env, ACTIVATOR_MODE: 'embedded' }, stdio: ['ignore', 'pipe', 'inherit'] });
  const ready = new Promise((resolve, reject) => {
    let log = '';
    child.on('exit', code => reject(new Error(`the activator ended (${code}):\n${log}`)));
    child.stdout.on('data', text => {
      log = (log + text).slice(-100_000);
      const port = /Try: curl http:\/\/hello\.default\.localhost:(\d+)/.exec(log)?.[1];
      const api = /kubectl -s (http:\/\/[\d.]+:\d+)/.exec(log)?.[1];
      if (port && api) {
        resolve({ api, port });
      }
    });
  });
  return { process: child, ready };
}

async function createService(api) {
  const command = [process.execPath, fileURLToPath(import.meta.url), 'pod'];
  const answer = await fetch(`${api}/apis/serving.knative.dev/v1/namespaces/default/services`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      apiVersion: 'serving.knative.dev/v1',
      kind: 'Service',
      metadata: { name: 'slow', namespace: 'default' },
      spec: { template: {
        metadata: { annotations: { 'autoscaling.knative.dev/min-scale': '1',
          'autoscaling.knative.dev/max-scale': '1' } },
        spec: { containerConcurrency: CONCURRENCY, containers: [{ name: 'slow', command }] },
      } },
    }),
  });
  if (!answer.ok) {
    throw new Error(`the Service was not created: ${answer.status} ${await answer.text()}`);
  }
}

/** Asks at a steady rate; how often each status came in that time, or that a caller has left. */
async function load(port, seconds, aSecond, timeout) {
  const counts = new Map();
  const asked = [];
  const begin = performance.now();
  while (performance.now() - begin < seconds * 1000) {
    while (asked.length < (performance.now() - begin) * aSecond / 1000) {
      asked.push(ask(port, timeout()).then(how => {
        const key = performance.now() - begin < seconds * 1000 ? how : `${how}, later`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }));
    }
    await sleep(2);
  }
  await Promise.all(asked);
  return counts;
}

function timeouts(text) {
  const [least, most = least] = text.split('-').map(Number);
  return () => least + Math.random() * (most - least);
}

function ask(port, timeoutMs, path = '/') {
  return new Promise(resolve => {
    const request = http.request({ port, path, host: '127.0.0.1', method: 'POST', agent: false,
      headers: { Host: 'slow.default.localhost' } }, response => {
      response.resume();
      response.on('end', () => over(response.statusCode));
      response.on('error', () => over('broken'));
    });
    const timer = setTimeout(() => over('left'), timeoutMs);
    const over = how => {
      clearTimeout(timer);
      resolve(how);
      request.destroy();
    };
    request.on('error', failure => over(failure.code));
    request.end('{"some": "body"}');
  });
}

function sleep(milliseconds) {
  return new Promise(resolve => setTimeout(resolve, milliseconds));
}
