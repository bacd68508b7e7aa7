#!/usr/bin/env bash
# parse-prometheus-text-format 1.1.1 (npm), and a histogram with a label, as nearly every exporter has.
#
# The guess: one entry for each set of labels, with its buckets, sum and count, as in prom2json, whose form the module promises, and
# as the module does it for counters and gauges.
#
# What it does: buckets and quantiles of all sets go into one entry without labels, so that those of the last set win; sum and count are
# dropped as soon as they have a label. Nothing is reported. Seen:
#   no label: [{"buckets":{"1":"2","+Inf":"3"},"count":"3","sum":"4"}]
#   one set: [{"buckets":{"1":"2","+Inf":"3"}}]
#   two sets: [{"buckets":{"1":"20","+Inf":"30"}}]
#   two sets of a summary: [{"quantiles":{"0.5":"20"}}]
#   two counters: [{"value":"1","labels":{"pod":"a"}},{"value":"2","labels":{"pod":"b"}}]
#
# Needs Node 18 or later and npm. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix . parse-prometheus-text-format@1.1.1
cat > finding.cjs <<'JS'
const parse = require('parse-prometheus-text-format');

const histogram = (labels, factor) => {
  const of = (more) => [...labels, ...more].length ? `{${[...labels, ...more].join(',')}}` : '';
  return `t_bucket${of(['le="1"'])} ${2 * factor}\nt_bucket${of(['le="+Inf"'])} ${3 * factor}\n`
      + `t_sum${of([])} ${4 * factor}\nt_count${of([])} ${3 * factor}\n`;
};
const show = (what, text) => console.log(`${what}: ${JSON.stringify(parse(text)[0].metrics)}`);

const head = '# HELP t How long it took.\n# TYPE t histogram\n';
show('no label', head + histogram([], 1));
show('one set', head + histogram(['pod="a"'], 1));
show('two sets', head + histogram(['pod="a"'], 1) + histogram(['pod="b"'], 10));
show('two sets of a summary', head.replace('histogram', 'summary') + 't{pod="a",quantile="0.5"} 2\nt{pod="b",quantile="0.5"} 20\n');
show('two counters', '# HELP c How many.\n# TYPE c counter\nc{pod="a"} 1\nc{pod="b"} 2\n');
JS
node finding.cjs | tee seen
diff seen - <<'EXPECTED'
no label: [{"buckets":{"1":"2","+Inf":"3"},"count":"3","sum":"4"}]
one set: [{"buckets":{"1":"2","+Inf":"3"}}]
two sets: [{"buckets":{"1":"20","+Inf":"30"}}]
two sets of a summary: [{"quantiles":{"0.5":"20"}}]
two counters: [{"value":"1","labels":{"pod":"a"}},{"value":"2","labels":{"pod":"b"}}]
EXPECTED
