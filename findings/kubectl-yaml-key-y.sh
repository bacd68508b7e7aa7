#!/usr/bin/env bash
# kubectl 1.36.4 (Debian's kubectl 1.36.4+ds-1) and @kubernetes/client-node 1.4.0 (npm), and a manifest whose keys are x and y.
#
# The guess: the keys of an object's map are the strings that the manifest has. That "y" without quotes is true in YAML 1.1 concerns
# values, which the API refuses where it expects a string; a key is a string in JSON, which the API gets.
#
# What it does: kubectl reads the key as true, and sends it as the string "true", without a warning, also with --validate=strict. So are
# labels, data and environment named. "n" and "off" become the same key, "false", and one of the two values is lost. The Node.js client
# reads the same file as it is written. Seen, for data: {x: "1", y: "2", n: "3", off: "4"}:
#   kubectl: {"false":"4","true":"2","x":"1"}
#   @kubernetes/client-node: {"x":"1","y":"2","n":"3","off":"4"}
#
# Needs Node 20 or later, and apt with Debian sid. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq kubectl=1.36.4+ds-1 libc6
for package in *.deb; do
  dpkg -x "$package" .
done
# With the libraries of sid, also on an older Debian.
kubectl=("$work/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" --library-path "$work/usr/lib/x86_64-linux-gnu" "$work/usr/bin/kubectl")
npm install --silent --no-audit --no-fund @kubernetes/client-node@1.4.0 > npm.log 2>&1 || { cat npm.log; exit 1; }
cat > object.yaml <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: place}
data: {x: "1", y: "2", n: "3", off: "4"}
YAML
{
  echo "kubectl: $(HOME=$work KUBECONFIG=/dev/null "${kubectl[@]}" label --local -f object.yaml a=b -o 'jsonpath={.data}')"
  node -e "
    import('@kubernetes/client-node').then(client => console.log('@kubernetes/client-node: '
      + JSON.stringify(client.loadYaml(require('fs').readFileSync('object.yaml', 'utf8')).data)));"
} | tee seen
diff - seen <<'WANTED'
kubectl: {"false":"4","true":"2","x":"1"}
@kubernetes/client-node: {"x":"1","y":"2","n":"3","off":"4"}
WANTED
