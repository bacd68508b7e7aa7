package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"sync"
	"time"
)

// M is an object as JSON has it.
type M = map[string]any

const (
	strategicMerge = "application/strategic-merge-patch+json"
	merge          = "application/merge-patch+json"
)

type metadata struct {
	Name, Namespace, UID, ResourceVersion string
	Generation                            int64
	Labels, Annotations                   map[string]string
	DeletionTimestamp                     *time.Time
	DeletionGracePeriodSeconds            *int64
}

func (m *metadata) key() string { return m.Namespace + "/" + m.Name }

type api struct {
	url, token string
	client     *http.Client
}

func newAPI(url, token string) *api {
	// A test server's certificate proves nothing here: the machine is the same.
	return &api{url, token, &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}}
}

func (a *api) open(method, path, contentType string, body any) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(data)
	}
	request, err := http.NewRequest(method, a.url+path, content)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+a.token)
	request.Header.Set("Content-Type", contentType)
	response, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 {
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		return nil, fmt.Errorf("%s %s: %d: %s", method, path, response.StatusCode, text)
	}
	return response, nil
}

// call sends a request and decodes its response into result, if that is not nil.
func (a *api) call(method, path, contentType string, body, result any) error {
	response, err := a.open(method, path, contentType, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if result == nil {
		_, err = io.Copy(io.Discard, response.Body)
		return err
	}
	return json.NewDecoder(response.Body).Decode(result)
}

func (a *api) get(path string, result any) error {
	return a.call("GET", path, "application/json", nil, result)
}

// follow lists and watches forever. An object that is gone is reported with its last state.
func follow[T any](a *api, path string, event func(m *metadata, object *T, gone bool)) {
	type entry struct {
		meta   metadata
		object T
	}
	type raw struct{ Metadata metadata }
	known := map[string]*entry{}
	put := func(data json.RawMessage) string {
		var r raw
		e := &entry{}
		if json.Unmarshal(data, &r) != nil || json.Unmarshal(data, &e.object) != nil {
			log.Printf("%s: cannot be read: %s", path, data)
			return ""
		}
		e.meta = r.Metadata
		old := known[e.meta.key()]
		if old != nil && old.meta.UID != e.meta.UID {
			event(&old.meta, &old.object, true)
		}
		known[e.meta.key()] = e
		if old == nil || old.meta.ResourceVersion != e.meta.ResourceVersion {
			event(&e.meta, &e.object, false)
		}
		return e.meta.key()
	}
	remove := func(key string) {
		if old := known[key]; old != nil {
			delete(known, key)
			event(&old.meta, &old.object, true)
		}
	}
	for ; ; time.Sleep(time.Second) {
		var list struct {
			Metadata metadata
			Items    []json.RawMessage
		}
		if err := a.get(path, &list); err != nil {
			// A definition that is not installed yet.
			if !strings.Contains(err.Error(), ": 404:") {
				log.Print(err)
			}
			continue
		}
		listed := map[string]bool{}
		for _, item := range list.Items {
			listed[put(item)] = true
		}
		for key := range known {
			if !listed[key] {
				remove(key)
			}
		}
		version := list.Metadata.ResourceVersion
		for version != "" {
			response, err := a.open("GET", path+"?watch=true&allowWatchBookmarks=true&resourceVersion="+version,
				"application/json", nil)
			if err != nil {
				break
			}
			decoder := json.NewDecoder(response.Body)
			for {
				var e struct {
					Type   string
					Object json.RawMessage
				}
				var r raw
				if decoder.Decode(&e) != nil {
					break
				}
				if e.Type == "ERROR" {
					version = ""
					break
				}
				_ = json.Unmarshal(e.Object, &r)
				version = r.Metadata.ResourceVersion
				switch e.Type {
				case "DELETED":
					remove(r.Metadata.key())
				case "ADDED", "MODIFIED":
					put(e.Object)
				}
			}
			response.Body.Close()
		}
	}
}

type servicePort struct {
	Name, Protocol string
	Port           int
	TargetPort     any
}

type service struct {
	Spec struct {
		Type, ClusterIP, ExternalName string
		Ports                         []servicePort
	}
}

type endpointSlice struct {
	Endpoints []struct {
		Addresses  []string
		Conditions struct{ Ready *bool }
	}
	Ports []struct {
		Name string
		Port int
	}
}

// objects are what proxy, DNS and ingress read: Services, and the slices of each.
type objects struct {
	mutex    sync.RWMutex
	services map[string]*service
	slices   map[string]map[string]*endpointSlice
	changed  chan struct{}
}

func newObjects(a *api) *objects {
	o := &objects{services: map[string]*service{}, slices: map[string]map[string]*endpointSlice{},
		changed: make(chan struct{}, 1)}
	go follow(a, "/api/v1/services", func(m *metadata, s *service, gone bool) {
		o.update(func() {
			if gone {
				delete(o.services, m.key())
			} else {
				o.services[m.key()] = s
			}
		})
	})
	go follow(a, "/apis/discovery.k8s.io/v1/endpointslices", func(m *metadata, s *endpointSlice, gone bool) {
		o.update(func() {
			of := m.Namespace + "/" + m.Labels["kubernetes.io/service-name"]
			if gone {
				delete(o.slices[of], m.Name)
				return
			}
			if o.slices[of] == nil {
				o.slices[of] = map[string]*endpointSlice{}
			}
			o.slices[of][m.Name] = s
		})
	})
	return o
}

func (o *objects) update(change func()) {
	o.mutex.Lock()
	change()
	o.mutex.Unlock()
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

func (o *objects) service(key string) *service {
	o.mutex.RLock()
	defer o.mutex.RUnlock()
	return o.services[key]
}

// endpoints are the ready addresses of a port, each as IP and port. The caller holds the lock.
func (o *objects) endpoints(key, port string) [][2]string {
	var ready [][2]string
	seen := map[[2]string]bool{}
	for _, slice := range o.slices[key] {
		for _, p := range slice.Ports {
			if p.Name != port {
				continue
			}
			for _, e := range slice.Endpoints {
				if e.Conditions.Ready != nil && !*e.Conditions.Ready {
					continue
				}
				address := [2]string{e.Addresses[0], fmt.Sprint(p.Port)}
				if !seen[address] {
					seen[address] = true
					ready = append(ready, address)
				}
			}
		}
	}
	return ready
}
