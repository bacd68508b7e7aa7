package main

import (
	"errors"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sort"
	"strings"
	"sync"
	"time"
)

const (
	ingressClass    = "nodes.ingress.networking.knative.dev"
	ingressPath     = "/apis/networking.internal.knative.dev/v1alpha1"
	internalIngress = "internal.knative-ingress.svc." + domain
)

type split struct {
	ServiceName, ServiceNamespace string
	ServicePort                   any
	Percent                       int
	AppendHeaders                 map[string]string
}

type ingressRoute struct {
	Path, RewriteHost string
	Headers           map[string]struct{ Exact string }
	Splits            []split
	AppendHeaders     map[string]string
}

type ingressObject struct {
	Spec struct {
		Rules []struct {
			Hosts      []string
			Visibility string
			HTTP       struct{ Paths []ingressRoute }
		}
	}
	Status struct {
		ObservedGeneration int64
		Conditions         []struct{ Type, Status string }
	}
}

// ingress forwards requests by host, path and headers to endpoints of Services, in HTTP/1.1 and, to ports of the name
// http2, in HTTP/2 without TLS.
type ingress struct {
	api     *api
	objects *objects
	mutex   sync.RWMutex
	tables  map[string]map[string][]ingressRoute // by visibility and host
	known   map[string]*ingressObject
	http1   http.RoundTripper
	http2   http.RoundTripper
}

func newIngress(a *api, o *objects) *ingress {
	transport := func(unencryptedHTTP2 bool) http.RoundTripper {
		protocols := &http.Protocols{}
		protocols.SetHTTP1(!unencryptedHTTP2)
		protocols.SetUnencryptedHTTP2(unencryptedHTTP2)
		return &http.Transport{Protocols: protocols, DisableCompression: true, MaxIdleConnsPerHost: 1000,
			IdleConnTimeout: 30 * time.Second, DialContext: (&net.Dialer{Timeout: 2 * time.Second}).DialContext}
	}
	return &ingress{api: a, objects: o, known: map[string]*ingressObject{}, http1: transport(false), http2: transport(true)}
}

func (i *ingress) run() {
	i.gateway()
	for address, visibility := range map[string]string{externalIP: "ExternalIP", internalIP: "ClusterLocal"} {
		protocols := &http.Protocols{}
		protocols.SetHTTP1(true)
		protocols.SetUnencryptedHTTP2(true)
		server := &http.Server{Addr: address + ":80", Protocols: protocols,
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { i.forward(visibility, w, r) })}
		go func() { must(server.ListenAndServe()) }()
	}
	follow(i.api, ingressPath+"/ingresses", func(m *metadata, object *ingressObject, gone bool) {
		if class := m.Annotations["networking.knative.dev/ingress.class"]; class != ingressClass {
			return
		}
		if gone {
			delete(i.known, m.key())
		} else {
			i.known[m.key()] = object
		}
		i.rebuild()
		ready := object.Status.ObservedGeneration == m.Generation
		for _, c := range object.Status.Conditions {
			ready = ready && c.Status == "True"
		}
		if !gone && m.DeletionTimestamp == nil && (!ready || len(object.Status.Conditions) == 0) {
			i.markReady(m)
		}
	})
}

// gateway makes the Service whose address Knative's tests send their requests to.
func (i *ingress) gateway() {
	for path, object := range map[string]M{
		"/api/v1/namespaces": {"apiVersion": "v1", "kind": "Namespace", "metadata": M{"name": "knative-ingress"}},
	} {
		_ = i.api.call("POST", path, "application/json", object, nil)
	}
	const services = "/api/v1/namespaces/knative-ingress/services"
	_ = i.api.call("POST", services, "application/json", M{"apiVersion": "v1", "kind": "Service", "metadata": M{"name": "external"},
		"spec": M{"type": "LoadBalancer", "ports": []M{{"name": "http", "port": 80}}}}, nil)
	must(i.api.call("PATCH", services+"/external/status", merge,
		M{"status": M{"loadBalancer": M{"ingress": []M{{"ip": externalIP}}}}}, nil))
}

func (i *ingress) rebuild() {
	tables := map[string]map[string][]ingressRoute{"ExternalIP": {}, "ClusterLocal": {}}
	for _, object := range i.known {
		for _, rule := range object.Spec.Rules {
			visibility := rule.Visibility
			if visibility == "" {
				visibility = "ExternalIP"
			}
			routes := append([]ingressRoute{}, rule.HTTP.Paths...)
			sort.SliceStable(routes, func(a, b int) bool {
				if len(routes[a].Path) != len(routes[b].Path) {
					return len(routes[a].Path) > len(routes[b].Path)
				}
				return len(routes[a].Headers) > len(routes[b].Headers)
			})
			for _, host := range rule.Hosts {
				tables[visibility][host] = routes
			}
		}
	}
	i.mutex.Lock()
	i.tables = tables
	i.mutex.Unlock()
}

func (i *ingress) markReady(m *metadata) {
	var conditions []M
	for _, kind := range []string{"Ready", "LoadBalancerReady", "NetworkConfigured"} {
		conditions = append(conditions, M{"type": kind, "status": "True", "lastTransitionTime": now()})
	}
	balancer := func(name string) M { return M{"ingress": []M{{"domainInternal": name}}} }
	err := i.api.call("PATCH", ingressPath+"/namespaces/"+m.Namespace+"/ingresses/"+m.Name+"/status", merge, M{"status": M{
		"observedGeneration": m.Generation, "conditions": conditions,
		"publicLoadBalancer": balancer("external.knative-ingress.svc." + domain), "privateLoadBalancer": balancer(internalIngress),
	}}, nil)
	if err != nil && !strings.Contains(err.Error(), ": 404:") {
		log.Print(err)
	}
}

func (i *ingress) route(visibility string, r *http.Request) *ingressRoute {
	host := strings.ToLower(r.Host)
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	i.mutex.RLock()
	routes := i.tables[visibility][host]
	i.mutex.RUnlock()
next:
	for n := range routes {
		if !strings.HasPrefix(r.URL.Path, routes[n].Path) {
			continue
		}
		for name, match := range routes[n].Headers {
			if r.Header.Get(name) != match.Exact {
				continue next
			}
		}
		return &routes[n]
	}
	return nil
}

func (i *ingress) forward(visibility string, w http.ResponseWriter, r *http.Request) {
	route := i.route(visibility, r)
	if route == nil {
		http.NotFound(w, r)
		return
	}
	target := &route.Splits[0]
	at := rand.IntN(100)
	for n := range route.Splits {
		if at < route.Splits[n].Percent {
			target = &route.Splits[n]
			break
		}
		at -= route.Splits[n].Percent
	}
	_ = http.NewResponseController(w).EnableFullDuplex()
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,
		Transport:     &balanced{i, target},
		Rewrite: func(out *httputil.ProxyRequest) {
			out.Out.URL = &url.URL{Scheme: "http", Host: "unknown", Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
			out.Out.Header["X-Forwarded-For"] = out.In.Header["X-Forwarded-For"]
			host := out.In.Header.Get("X-Forwarded-Host")
			out.SetXForwarded()
			if host != "" {
				out.Out.Header.Set("X-Forwarded-Host", host)
			} else if route.RewriteHost == "" {
				out.Out.Header.Del("X-Forwarded-Host")
			}
			out.Out.Host = r.Host
			if route.RewriteHost != "" {
				out.Out.Host = route.RewriteHost
			}
			for _, headers := range []map[string]string{route.AppendHeaders, target.AppendHeaders} {
				for name, value := range headers {
					out.Out.Header.Set(name, value)
				}
			}
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil {
				log.Printf("ingress: %s%s: %v", r.Host, r.URL.Path, err)
			}
			status := http.StatusBadGateway
			if errors.Is(err, errNoEndpoint) {
				status = http.StatusServiceUnavailable
			}
			w.WriteHeader(status)
		},
	}
	proxy.ServeHTTP(w, r)
}

var errNoEndpoint = errors.New("no endpoint")

// balanced sends a request to a random endpoint of a split, and to another one if there is no connection.
type balanced struct {
	ingress *ingress
	split   *split
}

func (b *balanced) RoundTrip(r *http.Request) (*http.Response, error) {
	body := r.Body
	for attempt := 0; ; attempt++ {
		address, http2, found := b.ingress.endpoint(b.split)
		if !found {
			return nil, errNoEndpoint
		}
		r.URL.Host = address
		if body != nil && body != http.NoBody {
			r.Body = io.NopCloser(body)
		}
		transport := b.ingress.http1
		if http2 {
			transport = b.ingress.http2
		}
		response, err := transport.RoundTrip(r)
		var failed *net.OpError
		if err == nil || attempt == 3 || !errors.As(err, &failed) || failed.Op != "dial" {
			return response, err
		}
	}
}

func (i *ingress) endpoint(s *split) (address string, http2, found bool) {
	key := s.ServiceNamespace + "/" + s.ServiceName
	i.objects.mutex.RLock()
	defer i.objects.mutex.RUnlock()
	service := i.objects.services[key]
	if service == nil {
		return "", false, false
	}
	// A mapped domain leads to the Service of another route, and so here again.
	if service.Spec.Type == "ExternalName" {
		return internalIP + ":80", false, true
	}
	for _, port := range service.Spec.Ports {
		if s.ServicePort != port.Name && s.ServicePort != float64(port.Port) {
			continue
		}
		endpoints := i.objects.endpoints(key, port.Name)
		if len(endpoints) == 0 {
			return "", false, false
		}
		e := endpoints[rand.IntN(len(endpoints))]
		return e[0] + ":" + e[1], port.Name == "http2", true
	}
	return "", false, false
}
