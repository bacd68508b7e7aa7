#!/usr/bin/env bash
# Go 1.27.3 (Debian's golang-1.27-go 1.27.3-1), net/http, and a 304 with Content-Length in HTTP/2.
#
# The guess: a client ignores the length, which is that of the 200 (RFC 9110, section 8.6), as it does for HEAD, and in HTTP/1.1.
# RFC 9113, section 8.1.1, says for HTTP/2 that such a response is not malformed.
#
# What it does: in HTTP/1.1 the server drops the field. In HTTP/2 it is sent, and the client takes the response for one that was cut:
# the body ends with an unexpected EOF. httputil.ReverseProxy resets the stream of its caller then. Seen:
#   HTTP/1 GET: 304, length [], body: <nil>
#   HTTP/2 GET: 304, length [1234], body: unexpected EOF
#   HTTP/2 HEAD: 304, length [1234], body: <nil>
#
# Needs apt with Debian sid. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq golang-1.27-go=1.27.3-1 golang-1.27-src=1.27.3-1
for package in *.deb; do
  dpkg -x "$package" .
done
# The packages link to each other by absolute paths.
mkdir root
cp -r usr/share/go-1.27/. root/
cp -r usr/lib/go-1.27/. root/ 2> /dev/null || true
cat > main.go <<'GO'
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
)

func main() {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	server := &http.Server{Protocols: protocols, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1234")
		w.WriteHeader(http.StatusNotModified)
	})}
	go server.Serve(listener)
	for _, try := range []struct {
		version int
		method  string
	}{{1, "GET"}, {2, "GET"}, {2, "HEAD"}} {
		protocols := new(http.Protocols)
		protocols.SetHTTP1(try.version == 1)
		protocols.SetUnencryptedHTTP2(try.version == 2)
		client := &http.Client{Transport: &http.Transport{Protocols: protocols}}
		request, _ := http.NewRequest(try.method, "http://"+listener.Addr().String(), nil)
		response, err := client.Do(request)
		if err != nil {
			panic(err)
		}
		_, err = io.ReadAll(response.Body)
		fmt.Printf("HTTP/%d %s: %d, length %v, body: %v\n", try.version, try.method, response.StatusCode, response.Header["Content-Length"], err)
	}
}
GO
GOROOT=$work/root GOCACHE=$work/cache GOPATH=$work/path GO111MODULE=off GOTOOLCHAIN=local CGO_ENABLED=0 root/bin/go run main.go | tee seen
diff seen - <<'EXPECTED'
HTTP/1 GET: 304, length [], body: <nil>
HTTP/2 GET: 304, length [1234], body: unexpected EOF
HTTP/2 HEAD: 304, length [1234], body: <nil>
EXPECTED
