package main

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// kubelet runs the pods that the scheduler binds to its node.
type kubelet struct {
	api           *api
	objects       *objects
	images, state string
	mutex         sync.Mutex
	pods          map[string]*pod // by UID
	addresses     int
}

type envSource struct {
	FieldRef         *struct{ FieldPath string }
	ResourceFieldRef *struct{ ContainerName, Resource string }
	SecretKeyRef     *keyRef
	ConfigMapKeyRef  *keyRef
}

type keyRef struct {
	Name, Key string
	Optional  bool
}

type handler struct {
	Exec    *struct{ Command []string }
	HTTPGet *struct {
		Path, Scheme, Host string
		Port               any
		HTTPHeaders        []struct{ Name, Value string }
	}
	TCPSocket *struct{ Port any }
	GRPC      *struct {
		Port    int
		Service string
	}
}

type probe struct {
	handler
	InitialDelaySeconds, TimeoutSeconds, PeriodSeconds, SuccessThreshold, FailureThreshold int
}

type securityContext struct {
	RunAsUser, RunAsGroup  *int64
	ReadOnlyRootFilesystem bool
	Capabilities           struct{ Add, Drop []string }
}

type container struct {
	Name, Image, WorkingDir, TerminationMessagePath, TerminationMessagePolicy string
	RestartPolicy                                                             string
	Command, Args                                                             []string
	Ports                                                                     []struct {
		Name          string
		ContainerPort int
	}
	Env []struct {
		Name, Value string
		ValueFrom   *envSource
	}
	EnvFrom []struct {
		Prefix       string
		ConfigMapRef *keyRef
		SecretRef    *keyRef
	}
	Resources    struct{ Requests, Limits map[string]string }
	VolumeMounts []struct {
		Name, MountPath, SubPath string
		ReadOnly                 bool
	}
	LivenessProbe, ReadinessProbe, StartupProbe *probe
	Lifecycle                                   struct{ PreStop *handler }
	SecurityContext                             securityContext
}

type items []struct{ Key, Path string }

type fields []struct {
	Path     string
	FieldRef *struct{ FieldPath string }
}

type volume struct {
	Name   string
	Secret *struct {
		SecretName string
		Items      items
		Optional   bool
	}
	ConfigMap *struct {
		Name     string
		Items    items
		Optional bool
	}
	DownwardAPI *struct{ Items fields }
	Projected   *struct {
		Sources []struct {
			Secret, ConfigMap *struct {
				Name     string
				Items    items
				Optional bool
			}
			DownwardAPI         *struct{ Items fields }
			ServiceAccountToken *struct {
				Path, Audience    string
				ExpirationSeconds int64
			}
		}
	}
}

type podObject struct {
	Spec struct {
		NodeName, ServiceAccountName, RestartPolicy, Hostname string
		Containers, InitContainers                            []*container
		Volumes                                               []*volume
		SecurityContext                                       securityContext
	}
	Status struct{ Phase string }
}

func newKubelet(a *api, o *objects, images, state string) *kubelet {
	must(os.MkdirAll(state, 0o755))
	return &kubelet{api: a, objects: o, images: images, state: state, pods: map[string]*pod{}, addresses: 256}
}

// register makes the node, which nothing else watches: its conditions never change.
func (k *kubelet) register() {
	node := M{"apiVersion": "v1", "kind": "Node", "metadata": M{"name": nodeName,
		"labels": M{"kubernetes.io/hostname": nodeName, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}}}
	if err := k.api.call("POST", "/api/v1/nodes", "application/json", node, nil); err != nil {
		log.Print(err)
	}
	must(k.api.call("PATCH", "/api/v1/nodes/"+nodeName, merge, M{"spec": M{"taints": nil}}, nil))
	resources := M{"cpu": fmt.Sprint(nodeCPUs), "memory": "64Gi", "pods": "1000", "ephemeral-storage": "100Gi"}
	must(k.api.call("PATCH", "/api/v1/nodes/"+nodeName+"/status", strategicMerge, M{"status": M{
		"capacity": resources, "allocatable": resources,
		"addresses":       []M{{"type": "InternalIP", "address": hostIP}},
		"daemonEndpoints": M{"kubeletEndpoint": M{"Port": 10250}},
		"conditions":      []M{{"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": now()}},
	}}, nil))
}

func (k *kubelet) run() {
	follow(k.api, "/api/v1/pods", func(m *metadata, object *podObject, gone bool) {
		k.mutex.Lock()
		defer k.mutex.Unlock()
		p := k.pods[m.UID]
		switch {
		case gone:
			if p != nil {
				delete(k.pods, m.UID)
				p.kill()
			}
		case object.Spec.NodeName != nodeName || object.Status.Phase == "Succeeded" || object.Status.Phase == "Failed":
			if m.DeletionTimestamp != nil && object.Spec.NodeName == nodeName && p == nil {
				go k.remove(m)
			}
		case p != nil:
			if m.DeletionTimestamp != nil {
				p.stop(time.Duration(*m.DeletionGracePeriodSeconds) * time.Second)
			}
		case m.DeletionTimestamp != nil:
			go k.remove(m)
		default:
			k.addresses++
			p = newPod(k, m, object, fmt.Sprintf("10.77.%d.%d", k.addresses/256%256, k.addresses%256))
			k.pods[m.UID] = p
			go p.run()
		}
	})
}

func (k *kubelet) remove(m *metadata) {
	_ = k.api.call("DELETE", "/api/v1/namespaces/"+m.Namespace+"/pods/"+m.Name, "application/json",
		M{"gracePeriodSeconds": 0, "preconditions": M{"uid": m.UID}}, nil)
}

func (k *kubelet) killAll() {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	for _, p := range k.pods {
		p.kill()
	}
	for _, p := range k.pods {
		<-p.done
	}
}

// serve answers what the API server asks a kubelet for: logs.
func (k *kubelet) serve(certificate tls.Certificate) {
	mux := http.NewServeMux()
	mux.HandleFunc("/containerLogs/{namespace}/{pod}/{container}", func(w http.ResponseWriter, r *http.Request) {
		k.mutex.Lock()
		var found *pod
		for _, p := range k.pods {
			if p.meta.Namespace == r.PathValue("namespace") && p.meta.Name == r.PathValue("pod") {
				found = p
			}
		}
		k.mutex.Unlock()
		if found == nil {
			http.NotFound(w, r)
			return
		}
		file, err := os.Open(filepath.Join(found.folder, r.PathValue("container")+".log"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		defer file.Close()
		for {
			_, _ = io.Copy(w, file)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-found.done:
				return
			case <-r.Context().Done():
				return
			case <-time.After(200 * time.Millisecond):
			}
			if r.URL.Query().Get("follow") != "true" {
				return
			}
		}
	})
	server := &http.Server{Addr: hostIP + ":10250", Handler: mux,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}}}
	must(server.ListenAndServeTLS("", ""))
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// A pod is a network namespace and its containers.
type pod struct {
	kubelet         *kubelet
	meta            *metadata
	object          *podObject
	folder, address string
	started         string
	stopping        chan struct{} // closed when the pod is deleted
	killed          chan struct{} // closed when its time is over
	done            chan struct{} // closed when nothing of it runs
	mutex           sync.Mutex
	grace           time.Duration
	states          map[string]*containerState
	initialized     bool
	conditions      map[string]M
	lastStatus      string
	readings        map[string][]usage // of the metrics API
}

func newPod(k *kubelet, m *metadata, object *podObject, address string) *pod {
	return &pod{kubelet: k, meta: m, object: object, address: address, folder: filepath.Join(k.state, m.UID), started: now(),
		stopping: make(chan struct{}), killed: make(chan struct{}), done: make(chan struct{}),
		states: map[string]*containerState{}, conditions: map[string]M{}, readings: map[string][]usage{}}
}

func (p *pod) namespace() string { return "n" + p.meta.UID[:13] }

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (p *pod) stop(grace time.Duration) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	first := !closed(p.stopping)
	if first {
		close(p.stopping)
	}
	if first || grace < p.grace {
		p.grace = grace
		time.AfterFunc(grace, p.kill)
	}
}

func (p *pod) kill() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if !closed(p.stopping) {
		close(p.stopping)
	}
	if !closed(p.killed) {
		close(p.killed)
	}
}

func (p *pod) run() {
	defer func() {
		removePod(p.namespace())
		_ = exec.Command("sh", "-c", "rm -rf "+p.folder).Run()
		close(p.done)
		p.kubelet.mutex.Lock()
		if p.kubelet.pods[p.meta.UID] == p && closed(p.stopping) {
			delete(p.kubelet.pods, p.meta.UID)
		}
		p.kubelet.mutex.Unlock()
		if closed(p.stopping) {
			p.kubelet.remove(p.meta)
		}
	}()
	must(os.MkdirAll(p.folder, 0o755))
	if err := addPod(p.namespace(), p.address); err != nil {
		log.Print(err)
		return
	}
	for _, c := range append(append([]*container{}, p.object.Spec.InitContainers...), p.object.Spec.Containers...) {
		reason := "ContainerCreating"
		if len(p.object.Spec.InitContainers) > 0 {
			reason = "PodInitializing"
		}
		p.states[c.Name] = &containerState{state: M{"waiting": M{"reason": reason}}}
	}
	p.report()
	// Secrets and ConfigMaps may come later than the pod.
	for {
		err := p.makeVolumes(func(*volume) bool { return true })
		if err == nil {
			break
		}
		log.Printf("%s: %v", p.meta.key(), err)
		if !p.sleep(time.Second) {
			return
		}
	}
	go p.refreshVolumes()
	var running sync.WaitGroup
	start := func(c *container, restart string, exited chan<- int) {
		running.Add(1)
		go func() {
			defer running.Done()
			code := p.supervise(c, restart)
			if exited != nil {
				exited <- code
			}
		}()
	}
	for _, c := range p.object.Spec.InitContainers {
		if c.RestartPolicy == "Always" {
			start(c, "Always", nil)
			for !p.state(c).started && p.sleep(100*time.Millisecond) {
			}
			continue
		}
		restart := "OnFailure"
		if p.object.Spec.RestartPolicy == "Never" {
			restart = "Never"
		}
		exited := make(chan int, 1)
		start(c, restart, exited)
		if code := <-exited; code != 0 || closed(p.stopping) {
			running.Wait()
			return
		}
	}
	p.mutex.Lock()
	p.initialized = true
	p.mutex.Unlock()
	for _, c := range p.object.Spec.Containers {
		start(c, p.object.Spec.RestartPolicy, nil)
	}
	p.report()
	running.Wait()
	p.report()
	// One that has ended by itself stays until it is deleted.
	<-p.stopping
}

// sleep returns false if the pod is to stop.
func (p *pod) sleep(duration time.Duration) bool {
	select {
	case <-p.stopping:
		return false
	case <-time.After(duration):
		return true
	}
}

func (p *pod) state(c *container) containerState {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return *p.states[c.Name]
}

// change changes the state of a container, and writes the status if it is another one then.
func (p *pod) change(c *container, change func(s *containerState)) {
	p.mutex.Lock()
	change(p.states[c.Name])
	p.mutex.Unlock()
	p.report()
}

func (p *pod) condition(kind string, holds bool, reason string) M {
	status := "False"
	if holds {
		status, reason = "True", ""
	}
	old := p.conditions[kind]
	if old == nil || old["status"] != status {
		old = M{"type": kind, "status": status, "lastTransitionTime": now()}
		p.conditions[kind] = old
	}
	old["reason"] = reason
	return old
}

func (p *pod) report() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	ready, anyStarted, ended, failed := true, false, true, false
	statuses := func(containers []*container, initial bool) []M {
		list := []M{}
		for _, c := range containers {
			s := p.states[c.Name]
			terminated, _ := s.state["terminated"].(M)
			if !initial {
				ready = ready && s.ready
				anyStarted = anyStarted || s.state["running"] != nil || s.restarts > 0 || terminated != nil
				ended = ended && terminated != nil && s.final
				failed = failed || terminated != nil && terminated["exitCode"] != 0
			}
			status := M{"name": c.Name, "image": c.Image, "imageID": c.Image, "ready": s.ready, "started": s.started,
				"restartCount": s.restarts, "state": s.state}
			if s.last != nil {
				status["lastState"] = s.last
			}
			if s.started || terminated != nil {
				status["containerID"] = "crun://" + p.id(c)
			}
			list = append(list, status)
		}
		return list
	}
	initial := statuses(p.object.Spec.InitContainers, true)
	containers := statuses(p.object.Spec.Containers, false)
	phase := "Pending"
	switch {
	case ended && failed:
		phase = "Failed"
	case ended:
		phase = "Succeeded"
	case anyStarted:
		phase = "Running"
	}
	ready = ready && p.initialized
	status := M{"phase": phase, "hostIP": hostIP, "podIP": p.address, "podIPs": []M{{"ip": p.address}}, "startTime": p.started,
		"hostIPs":           []M{{"ip": hostIP}},
		"containerStatuses": containers,
		"conditions": []M{p.condition("PodReadyToStartContainers", true, ""),
			p.condition("Initialized", p.initialized, "ContainersNotInitialized"),
			p.condition("ContainersReady", ready, "ContainersNotReady"), p.condition("Ready", ready, "ContainersNotReady")},
	}
	if len(initial) > 0 {
		status["initContainerStatuses"] = initial
	}
	text, _ := json.Marshal(status)
	if string(text) == p.lastStatus {
		return
	}
	p.lastStatus = string(text)
	err := p.kubelet.api.call("PATCH", "/api/v1/namespaces/"+p.meta.Namespace+"/pods/"+p.meta.Name+"/status", strategicMerge,
		M{"metadata": M{"uid": p.meta.UID}, "status": status}, nil)
	if err != nil && !strings.Contains(err.Error(), ": 404:") && !strings.Contains(err.Error(), ": 409:") {
		log.Print(err)
	}
}

func (p *pod) field(path string) string {
	switch path {
	case "metadata.name":
		return p.meta.Name
	case "metadata.namespace":
		return p.meta.Namespace
	case "metadata.uid":
		return p.meta.UID
	case "spec.nodeName":
		return nodeName
	case "spec.serviceAccountName":
		return p.object.Spec.ServiceAccountName
	case "status.podIP", "status.podIPs":
		return p.address
	case "status.hostIP", "status.hostIPs":
		return hostIP
	}
	of, values := path, map[string]string(nil)
	switch {
	case strings.HasPrefix(path, "metadata.labels"):
		of, values = strings.TrimPrefix(path, "metadata.labels"), p.meta.Labels
	case strings.HasPrefix(path, "metadata.annotations"):
		of, values = strings.TrimPrefix(path, "metadata.annotations"), p.meta.Annotations
	}
	if of != "" {
		return values[strings.Trim(of, "[]'\"")]
	}
	var lines []string
	for key, value := range values {
		lines = append(lines, fmt.Sprintf("%s=%q", key, value))
	}
	return strings.Join(lines, "\n")
}

// data reads a Secret or ConfigMap. One that is missing is an error, unless it is optional: then it is nil.
func (p *pod) data(kind, name string, optional bool) (map[string][]byte, error) {
	var object struct {
		Data       map[string]any
		BinaryData map[string][]byte
	}
	err := p.kubelet.api.get("/api/v1/namespaces/"+p.meta.Namespace+"/"+kind+"/"+name, &object)
	if err != nil {
		if optional && strings.Contains(err.Error(), ": 404:") {
			return nil, nil
		}
		return nil, err
	}
	result := object.BinaryData
	if result == nil {
		result = map[string][]byte{}
	}
	for key, value := range object.Data {
		text, _ := value.(string)
		if kind == "secrets" {
			var decoded []byte
			if err := json.Unmarshal([]byte(`"`+text+`"`), &decoded); err != nil {
				return nil, err
			}
			result[key] = decoded
		} else {
			result[key] = []byte(text)
		}
	}
	return result, nil
}

// refreshVolumes writes ConfigMaps and Secrets again that have changed, as a kubelet does once a minute.
func (p *pod) refreshVolumes() {
	for p.sleep(10 * time.Second) {
		if err := p.makeVolumes(func(v *volume) bool { return v.ConfigMap != nil || v.Secret != nil }); err != nil {
			log.Printf("%s: %v", p.meta.key(), err)
		}
	}
}

func (p *pod) makeVolumes(chosen func(v *volume) bool) error {
	for _, v := range p.object.Spec.Volumes {
		if !chosen(v) {
			continue
		}
		folder := filepath.Join(p.folder, "volumes", v.Name)
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return err
		}
		_ = os.Chmod(folder, 0o777)
		write := func(path string, content []byte) error {
			file := filepath.Join(folder, path)
			_ = os.MkdirAll(filepath.Dir(file), 0o755)
			if err := os.WriteFile(file+".new", content, 0o644); err != nil {
				return err
			}
			return os.Rename(file+".new", file)
		}
		writeData := func(kind, name string, optional bool, chosen items) error {
			data, err := p.data(kind, name, optional)
			if err != nil {
				return err
			}
			if chosen == nil {
				for key, value := range data {
					err = errors.Join(err, write(key, value))
				}
			}
			for _, item := range chosen {
				if value, found := data[item.Key]; found {
					err = errors.Join(err, write(item.Path, value))
				} else if !optional {
					return fmt.Errorf("%s %s has no key %s", kind, name, item.Key)
				}
			}
			return err
		}
		writeFields := func(chosen fields) (err error) {
			for _, f := range chosen {
				if f.FieldRef != nil {
					err = errors.Join(err, write(f.Path, []byte(p.field(f.FieldRef.FieldPath))))
				}
			}
			return err
		}
		var err error
		switch {
		case v.Secret != nil:
			err = writeData("secrets", v.Secret.SecretName, v.Secret.Optional, v.Secret.Items)
		case v.ConfigMap != nil:
			err = writeData("configmaps", v.ConfigMap.Name, v.ConfigMap.Optional, v.ConfigMap.Items)
		case v.DownwardAPI != nil:
			err = writeFields(v.DownwardAPI.Items)
		case v.Projected != nil:
			for _, s := range v.Projected.Sources {
				switch {
				case s.Secret != nil:
					err = errors.Join(err, writeData("secrets", s.Secret.Name, s.Secret.Optional, s.Secret.Items))
				case s.ConfigMap != nil:
					err = errors.Join(err, writeData("configmaps", s.ConfigMap.Name, s.ConfigMap.Optional, s.ConfigMap.Items))
				case s.DownwardAPI != nil:
					err = errors.Join(err, writeFields(s.DownwardAPI.Items))
				case s.ServiceAccountToken != nil:
					spec := M{"expirationSeconds": s.ServiceAccountToken.ExpirationSeconds,
						"boundObjectRef": M{"kind": "Pod", "apiVersion": "v1", "name": p.meta.Name, "uid": p.meta.UID}}
					if s.ServiceAccountToken.Audience != "" {
						spec["audiences"] = []string{s.ServiceAccountToken.Audience}
					}
					var token struct{ Status struct{ Token string } }
					err = errors.Join(err, p.kubelet.api.call("POST", "/api/v1/namespaces/"+p.meta.Namespace+
						"/serviceaccounts/"+p.object.Spec.ServiceAccountName+"/token", "application/json",
						M{"spec": spec}, &token))
					err = errors.Join(err, write(s.ServiceAccountToken.Path, []byte(token.Status.Token)))
				}
			}
		}
		if err != nil {
			return fmt.Errorf("volume %s: %w", v.Name, err)
		}
	}
	return nil
}
