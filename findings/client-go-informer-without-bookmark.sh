#!/usr/bin/env bash
# client-go 0.36.4 (Debian's golang-k8s-client-go-dev 0.36.4-1), and an API that does not know sendInitialEvents.
#
# The guess: an informer asks for its first objects by a watch with sendInitialEvents. An API server without that feature refuses it, and
# the informer lists instead. So it will for a server that ignores the parameter, at the latest when a while has passed: a server of
# one's own, which is listed in an APIService, a gateway, or a stub in a test, that answers lists and watches as documented before.
#
# What it does: such a server sends ADDED events and no bookmark that ends them. The informer logs "event bookmark expired" every ten
# seconds, and waits. When the watch ends, it asks for the same again, without a resourceVersion; it never lists, and is never synced,
# though it has had all objects each time. Seen, with watches that end after 5 s:
#   requests in 18 s: watch sendInitialEvents=true x4
#   lists: 0, synced: false
#
# Needs Go, and apt with Debian sid. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq golang-k8s-client-go-dev=0.36.4-1 \
  $(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances golang-k8s-client-go-dev \
    | grep -E '^golang-.*-dev$' | grep -v '^golang-k8s-client-go-dev$' | sort -u)
for package in *.deb; do
  dpkg -x "$package" .
done
mkdir -p usr/share/gocode/src/finding
cat > usr/share/gocode/src/finding/main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const object = `{"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "5"}}`

func main() {
	var lists, watches atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") == "" {
			lists.Add(1)
			fmt.Fprint(w, `{"apiVersion": "example.org/v1", "kind": "ThingList", "metadata": {"resourceVersion": "5"}, "items": [`+object+`]}`)
			return
		}
		if r.URL.Query().Get("sendInitialEvents") == "true" && r.URL.Query().Get("resourceVersion") == "" {
			watches.Add(1)
		}
		fmt.Fprintln(w, `{"type": "ADDED", "object": `+object+`}`)
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(5 * time.Second):
		}
	}))
	client := dynamic.NewForConfigOrDie(&rest.Config{Host: server.URL})
	things := schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "things"}
	informer := dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(things).Informer()
	ctx, cancel := context.WithTimeout(context.Background(), 18*time.Second)
	defer cancel()
	go informer.Run(ctx.Done())
	synced := cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
	fmt.Printf("requests in 18 s: watch sendInitialEvents=true x%d\nlists: %d, synced: %t\n", watches.Load(), lists.Load(), synced)
}
GO
GO111MODULE=off GOFLAGS= GOPATH=$work/usr/share/gocode go build -o finding finding
./finding | tee seen
diff seen - <<'EXPECTED'
requests in 18 s: watch sendInitialEvents=true x4
lists: 0, synced: false
EXPECTED
