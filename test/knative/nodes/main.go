// Command nodes is what a cluster has besides the control plane, on one machine and for tests only: a kubelet that
// runs containers with crun, kube-proxy with nft, a DNS server, a registry that only knows digests, Knative's ingress,
// and the metrics API. Nothing here is meant for more than Knative's tests need.
//
// It needs root, crun, nft and ip. ../control-plane starts it.
//
//	nodes -server URL -token TOKEN -images FOLDER [-state FOLDER]
//
// Each entry of the folder of images is an image: a program, which is run as user 65532, or a folder with a root file
// system, whose image.json has "args", "cwd" and "env". The image of a pod is found by the last part of its name.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"log"
	"math/big"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// Addresses of this machine that pods reach. The pods have those from 10.77.1.0 on.
const (
	hostIP     = "10.77.0.1"
	externalIP = "10.77.0.2"   // the ingress, for hosts of visibility ExternalIP
	internalIP = "10.77.0.3"   // the ingress, for hosts of visibility ClusterLocal
	gatewayIP  = "169.254.1.1" // the default route of pods
	nodeName   = "node"
	nodeCPUs   = 40 // what pods may request
	domain     = "cluster.local"
)

func main() {
	server := flag.String("server", "https://"+hostIP+":6443", "URL of the API server")
	token := flag.String("token", "", "bearer token of an administrator")
	images := flag.String("images", "", "folder of images")
	state := flag.String("state", "/tmp/knative-nodes", "folder for containers and logs")
	flag.Parse()
	log.SetFlags(log.Ltime | log.Lmicroseconds)

	// crun does not work where both versions of cgroups are mounted. This process has its own mounts.
	must(syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	_ = syscall.Unmount("/sys/fs/cgroup/unified", syscall.MNT_DETACH)
	// As a kubelet does: without it, all pods together weigh as much as one process of the machine.
	must(os.MkdirAll("/sys/fs/cgroup/cpu/nodes", 0o755))
	must(os.WriteFile("/sys/fs/cgroup/cpu/nodes/cpu.shares", []byte(fmt.Sprint(nodeCPUs*1024)), 0o644))
	for _, address := range []string{hostIP, externalIP, internalIP, gatewayIP} {
		_ = exec.Command("ip", "address", "add", address+"/32", "dev", "lo").Run()
	}
	// The way of packets to cluster IPs does not matter, but there must be one before they are translated.
	_ = exec.Command("ip", "route", "add", "10.96.0.0/16", "dev", "lo").Run()
	must(os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644))

	api := newAPI(*server, *token)
	objects := newObjects(api)
	kubelet := newKubelet(api, objects, *images, *state)
	go newProxy(objects).run()
	go newDNS(objects).run()
	go serveRegistry(*images)
	go newIngress(api, objects).run()
	certificate := selfSigned()
	go kubelet.serve(certificate)
	go kubelet.serveMetrics(certificate)
	kubelet.register()
	go kubelet.run()

	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	<-stop
	kubelet.killAll()
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// command runs a program and fails with its output.
func command(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return &commandError{name + " " + strings.Join(args, " ") + ": " + err.Error() + ": " + string(out)}
	}
	return nil
}

type commandError struct{ text string }

func (e *commandError) Error() string { return e.text }

func selfSigned() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().AddDate(1, 0, 0),
		DNSNames: []string{nodeName}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
