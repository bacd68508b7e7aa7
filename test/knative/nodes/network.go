package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// proxy does kube-proxy's work: cluster IPs are translated to ready endpoints, and refused if there are none.
type proxy struct{ objects *objects }

func newProxy(o *objects) *proxy { return &proxy{o} }

func (p *proxy) run() {
	for range p.objects.changed {
		time.Sleep(20 * time.Millisecond)
		load := exec.Command("nft", "-f", "-")
		load.Stdin = strings.NewReader(p.rules())
		if out, err := load.CombinedOutput(); err != nil {
			log.Printf("nft: %v: %s", err, out)
		}
	}
}

func (p *proxy) rules() string {
	var translate, refuse strings.Builder
	own := map[string]bool{}
	p.objects.mutex.RLock()
	defer p.objects.mutex.RUnlock()
	for key, s := range p.objects.services {
		if net.ParseIP(s.Spec.ClusterIP) == nil {
			continue
		}
		for _, port := range s.Spec.Ports {
			if port.Protocol == "UDP" {
				continue
			}
			match := fmt.Sprintf("ip daddr %s tcp dport %d ", s.Spec.ClusterIP, port.Port)
			endpoints := p.objects.endpoints(key, port.Name)
			if len(endpoints) == 0 {
				fmt.Fprintf(&refuse, "%s reject with tcp reset\n", match)
				continue
			}
			var to []string
			for i, e := range endpoints {
				own[e[0]+" . "+e[0]] = true
				to = append(to, fmt.Sprintf("%d : %s . %s", i, e[0], e[1]))
			}
			fmt.Fprintf(&translate, "%s dnat to numgen random mod %d map { %s }\n", match, len(to), strings.Join(to, ", "))
		}
	}
	// A pod that reaches itself would otherwise answer past the translation.
	self := ""
	if len(own) > 0 {
		self = "ct status dnat ip saddr . ip daddr { " + strings.Join(slices.Sorted(maps.Keys(own)), ", ") + " } masquerade; "
	}
	return fmt.Sprintf(`table ip nodes
delete table ip nodes
table ip nodes {
  chain services {
%s  }
  chain refused {
%s  }
  chain in { type nat hook prerouting priority -100; jump services; }
  chain out { type nat hook output priority -100; jump services; }
  chain back { type nat hook postrouting priority 100; %s}
  chain forward { type filter hook forward priority 0; jump refused; }
  chain local { type filter hook output priority 0; jump refused; }
}
`, translate.String(), refuse.String(), self)
}

// addPod gives a network namespace one address. All its packets pass this machine's routing, so that the
// translation of cluster IPs is undone for each answer.
func addPod(namespace, address string) error {
	end := "v" + strings.ReplaceAll(strings.TrimPrefix(address, "10.77."), ".", "x")
	if err := command("ip", "netns", "add", namespace); err != nil {
		return err
	}
	inside := fmt.Sprintf(`sysctl -qw net.ipv4.ip_unprivileged_port_start=0
ip link set lo up && ip link set eth0 up && ip address add %[1]s/32 dev eth0 &&
ip route add %[2]s dev eth0 && ip route add default via %[2]s`, address, gatewayIP)
	return command("sh", "-c", fmt.Sprintf(`ip link add %[1]s type veth peer name eth0 netns %[2]s && ip link set %[1]s up && ip route add %[3]s dev %[1]s && ip netns exec %[2]s sh -c '%[4]s'`,
		end, namespace, address, inside))
}

func removePod(namespace string) {
	_ = command("ip", "netns", "delete", namespace)
}

// dns answers for Services: A records of cluster IPs, of the endpoints of headless ones, and what an external name
// leads to. Other names do not exist.
type dns struct{ objects *objects }

func newDNS(o *objects) *dns { return &dns{o} }

func (d *dns) run() {
	socket, err := net.ListenPacket("udp", hostIP+":53")
	must(err)
	buffer := make([]byte, 4096)
	for {
		n, from, err := socket.ReadFrom(buffer)
		if err != nil {
			continue
		}
		if answer := d.answer(buffer[:n]); answer != nil {
			_, _ = socket.WriteTo(answer, from)
		}
	}
}

func (d *dns) answer(query []byte) []byte {
	if len(query) < 17 {
		return nil
	}
	var labels []string
	at := 12
	for at < len(query) && query[at] != 0 {
		end := at + 1 + int(query[at])
		if end >= len(query) {
			return nil
		}
		labels = append(labels, string(query[at+1:end]))
		at = end
	}
	if at+5 > len(query) {
		return nil
	}
	question := query[12 : at+5]
	kind := binary.BigEndian.Uint16(query[at+1:])
	addresses, exists := d.lookup(strings.ToLower(strings.Join(labels, ".")))
	if kind != 1 {
		addresses = nil
	}
	answer := append([]byte{}, query[:2]...)
	code := byte(0)
	if !exists {
		code = 3
	}
	answer = append(answer, 0x85, 0x80|code, 0, 1, 0, byte(len(addresses)), 0, 0, 0, 0)
	answer = append(answer, question...)
	for _, address := range addresses {
		// A pointer to the name, type A, class IN, 5 s.
		answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4)
		answer = append(answer, net.ParseIP(address).To4()...)
	}
	return answer
}

func (d *dns) lookup(name string) ([]string, bool) {
	switch name {
	case registryHost:
		return []string{hostIP}, true
	case internalIngress:
		return []string{internalIP}, true
	}
	parts := strings.Split(strings.TrimSuffix(name, ".svc."+domain), ".")
	if !strings.HasSuffix(name, ".svc."+domain) || len(parts) != 2 {
		return nil, false
	}
	key := parts[1] + "/" + parts[0]
	s := d.objects.service(key)
	if s == nil {
		return nil, false
	}
	if s.Spec.Type == "ExternalName" {
		if s.Spec.ExternalName == name {
			return nil, false
		}
		return d.lookup(s.Spec.ExternalName)
	}
	if net.ParseIP(s.Spec.ClusterIP) != nil {
		return []string{s.Spec.ClusterIP}, true
	}
	d.objects.mutex.RLock()
	defer d.objects.mutex.RUnlock()
	var addresses []string
	for _, port := range s.Spec.Ports {
		for _, e := range d.objects.endpoints(key, port.Name) {
			addresses = append(addresses, e[0])
		}
		break
	}
	return addresses, true
}

// The name ends with .local, so that Knative reads it over HTTP.
const registryHost = "registry.local"

func digest(image string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(image))) }

// serveRegistry tells digests of images, which Knative asks for. Nothing can be pulled.
func serveRegistry(images string) {
	must(http.ListenAndServe(hostIP+":5000", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, "/v2/")
		if path == "" {
			return
		}
		image, _, found := strings.Cut(path, "/manifests/")
		if _, err := os.Stat(filepath.Join(images, filepath.Base(image))); !found || err != nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/vnd.docker.distribution.manifest.v2+json")
		w.Header().Set("Docker-Content-Digest", digest(filepath.Base(image)))
		w.Header().Set("Content-Length", "2")
		if r.Method == http.MethodGet {
			_, _ = w.Write([]byte("{}"))
		}
	})))
}
