"""The two Kubernetes APIs: a control plane (etcd, kube-apiserver, kube-controller-manager) and embedded mode."""
import base64
import os
import secrets
import shutil
import signal
import ssl
import subprocess
import time
import urllib.request

OUT = os.environ["OUT"]
CLUSTER, OURS = 7443, 7450


class Server:
    """**Errors**: RuntimeError with the end of a log if a program ends before the API is ready."""

    def __init__(self, name, url, context, headers):
        self.name, self.url, self.context, self.headers = name, url, context, headers
        self.folder = f"{OUT}/{name}"
        self.started = []
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.kubeconfig = self.folder + "/kubeconfig"

    def start(self, name, *command, **environment):
        log = open(f"{self.folder}/{name}.log", "w")
        self.started.append((log.name, subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder, env={**os.environ, **environment})))

    def await_ready(self, path):
        while True:
            try:
                request = urllib.request.Request(self.url + path, headers=self.headers)
                return urllib.request.urlopen(request, context=self.context, timeout=5)
            except OSError:
                for log, process in self.started:
                    if process.poll() is not None:
                        with open(log) as text:
                            raise RuntimeError(log + ": " + text.read()[-2000:])
                time.sleep(0.2)

    def write_kubeconfig(self, cluster, user):
        with open(self.kubeconfig, "w") as file:
            file.write('{"apiVersion": "v1", "kind": "Config", "current-context": "it", "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],\n'
                       f'"clusters": [{{"name": "it", "cluster": {{"server": "{self.url}"{cluster}}}}}], "users": [{{"name": "it", "user": {{{user}}}}}]}}\n')

    def stop(self):
        for _, process in self.started:
            process.send_signal(signal.SIGKILL if self.name == "cluster" else signal.SIGTERM)
        for _, process in self.started:
            process.wait()


def certificates(folder):
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, stderr=subprocess.DEVNULL)
    openssl("genrsa", "-out", "accounts.key", "2048")
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "server.key", "-out", "server.crt", "-days", "30", "-subj", "/CN=127.0.0.1",
            "-addext", "subjectAltName=IP:127.0.0.1")


def cluster():
    token = secrets.token_hex(16)
    server = Server("cluster", f"https://127.0.0.1:{CLUSTER}", None, {"Authorization": "Bearer " + token})
    certificates(server.folder)
    server.context = ssl.create_default_context(cafile=server.folder + "/server.crt")
    with open(server.folder + "/tokens.csv", "w") as file:
        file.write(f"{token},admin,admin,system:masters\n")
    with open(server.folder + "/server.crt", "rb") as file:
        trusted = base64.b64encode(file.read()).decode()
    server.write_kubeconfig(f', "certificate-authority-data": "{trusted}"', f'"token": "{token}"')
    binaries = os.environ["KUBERNETES"]
    etcd = f"http://127.0.0.1:{CLUSTER + 1}"
    server.start("etcd", shutil.which("etcd") or binaries + "/etcd", "--data-dir", "data", "--unsafe-no-fsync", "--listen-client-urls", etcd,
                 "--advertise-client-urls", etcd, "--listen-peer-urls", f"http://127.0.0.1:{CLUSTER + 2}")
    server.start("kube-apiserver", binaries + "/kube-apiserver", "--etcd-servers=" + etcd, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
                 f"--secure-port={CLUSTER}", "--tls-cert-file=server.crt", "--tls-private-key-file=server.key", "--token-auth-file=tokens.csv",
                 "--authorization-mode=RBAC", "--service-cluster-ip-range=10.96.0.0/16", "--service-account-issuer=https://kubernetes.default.svc",
                 "--service-account-key-file=accounts.key", "--service-account-signing-key-file=accounts.key", "--endpoint-reconciler-type=none")
    server.await_ready("/readyz")
    server.start("kube-controller-manager", binaries + "/kube-controller-manager", "--kubeconfig=kubeconfig", "--leader-elect=false", "--bind-address=127.0.0.1",
                 f"--secure-port={CLUSTER + 3}", "--use-service-account-credentials", "--service-account-private-key-file=accounts.key",
                 "--root-ca-file=server.crt")
    server.await_ready("/api/v1/namespaces/default/serviceaccounts/default")
    return server


def ours():
    server = Server("ours", f"http://127.0.0.1:{OURS}", None, {})
    # Without it @kubernetes/client-node refuses plain HTTP.
    server.write_kubeconfig(', "insecure-skip-tls-verify": true', "")
    us = os.environ["US"]
    free = ["--activator.port.http1=0", "--activator.port.h2c=0", "--activator.port.https=0", "--activator.embedded.autoscaler-port=0",
            "--activator.profiling.port=0", "--activator.metrics-server.port=0"]
    program = ["-jar", us] if us.endswith(".jar") and ":" not in us else ["-cp", us, "dev.activator.ActivatorApplication"]
    server.start("activator", os.environ["JAVA"], *program, f"--activator.embedded.api-port={OURS}", *free, ACTIVATOR_MODE="embedded")
    server.await_ready("/readyz")
    return server
