#!/usr/bin/env bash
# OpenSSH 10.6p1 (Debian's openssh-server 1:10.6p1-1), with its defaults.
#
# The guess: health checks over TCP, as of kubelets and load balancers, which connect and close at once, cost sshd a process and a line of
# its log, and nothing else.
#
# What it does: each is a "connection without attempting authentication", for which PerSourcePenalties keeps one second against the source
# address. One check a second is forgiven as fast as it comes. With three a second, as of a startupProbe, a livenessProbe and a
# readinessProbe, or of some activators, the sum reaches 15 s soon. From then on everyone of that address is refused, before the greeting:
# behind a proxy, which checks and connects from one address, that is every user. What their passwords get wrong is added to the same sum.
# PerSourcePenaltyExemptList, or "PerSourcePenalties no", with the addresses of proxies and nodes ends that. Seen:
#   1 check a second for 20 s, then a client: SSH-2.0-OpenSSH_10.6p1 Debian-1
#   3 checks a second for 20 s, then a client: Not allowed at this time
#   the same with PerSourcePenalties no, then a client: SSH-2.0-OpenSSH_10.6p1 Debian-1
#
# Needs Node 20 or later, and apt with Debian sid. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) || true; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq openssh-server=1:10.6p1-1 openssh-client=1:10.6p1-1 openssh-common=1:10.6p1-1 libaudit1 libcap-ng0 libpam0g libpcre2-8-0 \
  libselinux1 libwrap0 libwtmpdb0
for package in *.deb; do
  dpkg -x "$package" .
done
export LD_LIBRARY_PATH="$work/usr/lib/x86_64-linux-gnu"
with=()
if [ "$(id -u)" = 0 ]; then
  # Without a user and a folder of its own.
  chown -R nobody "$work"
  with=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
fi
"${with[@]}" usr/bin/ssh-keygen -q -t ed25519 -N '' -f key
cat > ports.js <<'JS'
const servers = [1, 2, 3].map(() => require('net').createServer());
Promise.all(servers.map((server) => new Promise((done) => server.listen(0, '127.0.0.1', () => done(server.address().port)))))
    .then((ports) => { console.log(...ports); process.exit(); });
JS
read -r one three none <<< "$(node ports.js)"
serve() {
  "${with[@]}" "$work/usr/sbin/sshd" -D -e -f /dev/null -p "$1" -h "$work/key" -o ListenAddress=127.0.0.1 -o PidFile=none \
    -o SshdSessionPath="$work/usr/lib/openssh/sshd-session" -o SshdAuthPath="$work/usr/lib/openssh/sshd-auth" "${@:2}" 2> "log.$1" &
}
serve "$one"
serve "$three"
serve "$none" -o PerSourcePenalties=no
cat > client.js <<'JS'
const net = require('net');
const [port, perSecond, name] = process.argv.slice(2);
const check = () => net.connect(port, '127.0.0.1', function () { this.end(); }).on('error', () => {}).resume();
setTimeout(() => {
  const checks = setInterval(check, 1000 / perSecond);
  setTimeout(() => {
    clearInterval(checks);
    let got = '';
    net.connect(port, '127.0.0.1').on('error', () => {}).on('data', (data) => (got += data).includes('\n') && finish())
        .on('close', () => finish());
    const finish = () => { console.log(`${name}, then a client: ${got.trim()}`); process.exit(); };
  }, 20_000);
}, 1000);
JS
node client.js "$one" 1 "1 check a second for 20 s" > seen.1 &
node client.js "$three" 3 "3 checks a second for 20 s" > seen.2 &
node client.js "$none" 3 "the same with PerSourcePenalties no" > seen.3 &
wait %4 %5 %6
cat seen.1 seen.2 seen.3 | tee seen
diff seen - <<'EXPECTED'
1 check a second for 20 s, then a client: SSH-2.0-OpenSSH_10.6p1 Debian-1
3 checks a second for 20 s, then a client: Not allowed at this time
the same with PerSourcePenalties no, then a client: SSH-2.0-OpenSSH_10.6p1 Debian-1
EXPECTED
