package main

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const metricsPath = "/apis/metrics.k8s.io/v1beta1"

// usage is what cgroups say of a container; CPU in seconds since the start.
type usage struct {
	cpu, memory float64
	at          time.Time
}

// serveMetrics is the metrics API of pods, which HorizontalPodAutoscalers read: CPU over the last 5 s at least, and memory.
func (k *kubelet) serveMetrics(certificate tls.Certificate) {
	const namespace = "/api/v1/namespaces/kube-system"
	_ = k.api.call("POST", namespace+"/services", "application/json", M{"metadata": M{"name": "metrics"},
		"spec": M{"ports": []M{{"port": 443, "targetPort": 4443}}}}, nil)
	_ = k.api.call("POST", namespace+"/endpoints", "application/json", M{"metadata": M{"name": "metrics"},
		"subsets": []M{{"addresses": []M{{"ip": hostIP}}, "ports": []M{{"port": 4443}}}}}, nil)
	_ = k.api.call("POST", "/apis/apiregistration.k8s.io/v1/apiservices", "application/json", M{
		"metadata": M{"name": "v1beta1.metrics.k8s.io"},
		"spec": M{"group": "metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": 100, "versionPriority": 100,
			"insecureSkipTLSVerify": true, "service": M{"namespace": "kube-system", "name": "metrics"}}}, nil)
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, object M) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(object)
	}
	mux.HandleFunc(metricsPath, func(w http.ResponseWriter, r *http.Request) {
		answer(w, M{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "metrics.k8s.io/v1beta1", "resources": []M{
			{"name": "pods", "namespaced": true, "kind": "PodMetrics", "verbs": []string{"get", "list"}}}})
	})
	mux.HandleFunc(metricsPath+"/namespaces/{namespace}/pods", func(w http.ResponseWriter, r *http.Request) {
		items := []M{}
		k.mutex.Lock()
		defer k.mutex.Unlock()
		for _, p := range k.pods {
			if p.meta.Namespace == r.PathValue("namespace") && matches(r.URL.Query().Get("labelSelector"), p.meta.Labels) {
				if item := p.metrics(); item != nil {
					items = append(items, item)
				}
			}
		}
		answer(w, M{"kind": "PodMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": M{}, "items": items})
	})
	server := &http.Server{Addr: hostIP + ":4443", Handler: mux, TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}}}
	must(server.ListenAndServeTLS("", ""))
}

// matches knows the form key=value,key=value.
func matches(selector string, labels map[string]string) bool {
	for _, term := range strings.Split(selector, ",") {
		key, value, _ := strings.Cut(term, "=")
		if selector != "" && labels[key] != strings.TrimPrefix(value, "=") {
			return false
		}
	}
	return true
}

// metrics is nil before there are two readings of each container.
func (p *pod) metrics() M {
	containers := []M{}
	window := 0.0
	for _, c := range p.object.Spec.Containers {
		read := func(controller, file string) float64 {
			text, _ := os.ReadFile("/sys/fs/cgroup/" + controller + "/nodes/" + p.meta.UID + "/" + c.Name + "/" + file)
			value, _ := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
			return value
		}
		current := usage{cpu: read("cpuacct", "cpuacct.usage") / 1e9, memory: read("memory", "memory.usage_in_bytes"), at: time.Now()}
		readings := append(p.readings[c.Name], current)
		for len(readings) > 2 && current.at.Sub(readings[1].at) >= 5*time.Second {
			readings = readings[1:]
		}
		p.readings[c.Name] = readings
		elapsed := current.at.Sub(readings[0].at).Seconds()
		if elapsed < 1 {
			return nil
		}
		window = max(window, elapsed)
		containers = append(containers, M{"name": c.Name, "usage": M{
			"cpu":    fmt.Sprintf("%dn", int64(max(0, current.cpu-readings[0].cpu)/elapsed*1e9)),
			"memory": fmt.Sprintf("%d", int64(current.memory))}})
	}
	return M{"metadata": M{"name": p.meta.Name, "namespace": p.meta.Namespace, "labels": p.meta.Labels},
		"timestamp": now(), "window": fmt.Sprintf("%.0fs", window), "containers": containers}
}
