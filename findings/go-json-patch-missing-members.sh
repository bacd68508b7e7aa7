#!/usr/bin/env bash
# evanphx/json-patch 5.7.0 (Debian's golang-github-evanphx-json-patch-dev 5.7.0-2), in its versions 4 and 5, and members that are not there.
#
# The guess: both apply RFC 6902, whose "replace" and "copy" need a target that exists (4.3, 4.5). Kubernetes' API server applies patches
# with version 4, so a program that tries its patch with version 5 first knows what the server will do.
#
# What it does: version 4 replaces a member that is missing from an object, and copies null from one, without an error; "remove" and
# "move" do fail. Version 5 refuses all four. So kube-apiserver 1.36 takes {"op": "replace", "path": "/spec/replicas"} for the scale of
# a Deployment at zero, whose spec is shown as {}. Seen:
#   replace version 4: {"spec":{"replicas":1}}
#   replace version 5: replace operation does not apply: doc is missing key: /spec/replicas: missing value
#   copy version 4: {"spec":{"replicas":null}}
#   copy version 5: error in copy for from: '/spec/min': unable to get nonexistent key: min: missing value
#   remove version 4: error in remove for path: '/spec/replicas': Unable to remove nonexistent key: replicas: missing value
#   remove version 5: error in remove for path: '/spec/replicas': unable to remove nonexistent key: replicas: missing value
#
# Needs Go, and apt with Debian sid. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq golang-github-evanphx-json-patch-dev=5.7.0-2 golang-github-pkg-errors-dev
for package in *.deb; do
  dpkg -x "$package" .
done
mkdir -p usr/share/gocode/src/finding
cat > usr/share/gocode/src/finding/main.go <<'GO'
package main

import (
	"fmt"

	v4 "github.com/evanphx/json-patch"
	v5 "github.com/evanphx/json-patch/v5"
)

func show(what string, patched []byte, err error) {
	if err != nil {
		fmt.Printf("%s: %v\n", what, err)
		return
	}
	fmt.Printf("%s: %s\n", what, patched)
}

func main() {
	document := []byte(`{"spec":{}}`)
	for _, operation := range []string{`"replace", "path": "/spec/replicas", "value": 1`,
		`"copy", "from": "/spec/min", "path": "/spec/replicas"`, `"remove", "path": "/spec/replicas"`} {
		patch := []byte(`[{"op": ` + operation + `}]`)
		var name string
		fmt.Sscanf(operation, "%q", &name)
		four, err := v4.DecodePatch(patch)
		if err != nil {
			panic(err)
		}
		patched, err := four.Apply(document)
		show(name+" version 4", patched, err)
		five, err := v5.DecodePatch(patch)
		if err != nil {
			panic(err)
		}
		patched, err = five.Apply(document)
		show(name+" version 5", patched, err)
	}
}
GO
GO111MODULE=off GOPATH="$work/usr/share/gocode" GOCACHE="$work/cache" go run finding | tee seen
diff seen - <<'EXPECTED'
replace version 4: {"spec":{"replicas":1}}
replace version 5: replace operation does not apply: doc is missing key: /spec/replicas: missing value
copy version 4: {"spec":{"replicas":null}}
copy version 5: error in copy for from: '/spec/min': unable to get nonexistent key: min: missing value
remove version 4: error in remove for path: '/spec/replicas': Unable to remove nonexistent key: replicas: missing value
remove version 5: error in remove for path: '/spec/replicas': unable to remove nonexistent key: replicas: missing value
EXPECTED
