#!/usr/bin/env bash
# OTLP over HTTP of OpenTelemetry for JavaScript (npm: exporter-trace-otlp-http 0.223.1, sdk-trace-base 2.12.1), and Retry-After.
#
# The guess: a 503 is retried with back-off for as long as an export may take (10 s); Retry-After only says how long the next pause is at
# least, so a server that sends it loses no more spans than one that does not.
#
# What it does: Retry-After replaces the back-off each time. With 0 all retries are sent at once, and the spans are lost within a fraction of a
# second. With more than what is left of the 10 s they are lost at the first answer. Without the header they get through if the
# server recovers within seconds. Seen, with a server that answers 503 for the first 1.5 s:
#   no Retry-After: exported
#   Retry-After: 1: exported
#   Retry-After: 0: lost, 6 requests, in less than a second
#   Retry-After: 11: lost, 1 request, in less than a second
#
# Needs npm and Node 20 or later. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix . @opentelemetry/exporter-trace-otlp-http@0.223.1 @opentelemetry/sdk-trace-base@2.12.1
cat > finding.js <<'JS'
const http = require('http');
const {OTLPTraceExporter} = require('@opentelemetry/exporter-trace-otlp-http');
const {BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor} = require('@opentelemetry/sdk-trace-base');
const made = new InMemorySpanExporter();
const provider = new BasicTracerProvider({spanProcessors: [new SimpleSpanProcessor(made)]});
provider.getTracer('finding').startSpan('work').end();
const spans = made.getFinishedSpans();

function attempt(retryAfter) {
  return new Promise((done) => {
    const begun = Date.now();
    let requests = 0;
    const server = http.createServer((request, response) => request.resume().on('end', () => {
      requests++;
      if (Date.now() - begun < 1500) {
        response.writeHead(503, retryAfter === undefined ? {} : {'Retry-After': retryAfter});
      }
      response.end();
    }));
    server.listen(0, '127.0.0.1', () => new OTLPTraceExporter({url: `http://127.0.0.1:${server.address().port}/v1/traces`})
        .export(spans, ({code}) => {
          const took = code !== 0 && Date.now() - begun < 1000 ? ', in less than a second' : '';
          console.log(`${retryAfter === undefined ? 'no Retry-After' : `Retry-After: ${retryAfter}`}:`
              + ` ${code === 0 ? 'exported' : `lost, ${requests} request${requests > 1 ? 's' : ''}`}${took}`);
          server.close();
          server.closeAllConnections();
          done();
        }));
  });
}
(async () => {
  for (const retryAfter of [undefined, '1', '0', '11']) {
    await attempt(retryAfter);
  }
})();
JS
node finding.js | tee seen
diff seen - <<'EXPECTED'
no Retry-After: exported
Retry-After: 1: exported
Retry-After: 0: lost, 6 requests, in less than a second
Retry-After: 11: lost, 1 request, in less than a second
EXPECTED
