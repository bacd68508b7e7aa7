#!/usr/bin/env bash
# JSON Merge Patch of evanphx/json-patch 5.7.0 (Debian's golang-github-evanphx-json-patch-dev 5.7.0-2), in its versions 4 and 5, and null in a
# list.
#
# The guess: as RFC 7386 defines, null removes a field where objects are merged, and a list replaces the old one as it is. So an object in a
# list keeps its null, and what kube-apiserver, which uses version 4, stores for a custom resource is the same after a merge patch as after
# a create or an update with the same list.
#
# What it does: fields that are null are removed from the objects in new lists, too, at any depth, and null itself stays as an item. Where
# null means something (nullable: true) it is there after the create and gone after the patch. A controller or a GitOps tool that
# compares finds a difference that no merge patch can remove. Seen:
#   {"rules":[{"host":"a","limit":null}]}: version 4 {"rules":[{"host":"a"}]}, version 5 {"rules":[{"host":"a"}]}
#   {"rules":[[{"limit":null}],null]}: version 4 {"rules":[[{}],null]}, version 5 {"rules":[[{}],null]}
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

func main() {
	document := []byte(`{"rules":[]}`)
	for _, patch := range []string{`{"rules":[{"host":"a","limit":null}]}`, `{"rules":[[{"limit":null}],null]}`} {
		four, err := v4.MergePatch(document, []byte(patch))
		if err != nil {
			panic(err)
		}
		five, err := v5.MergePatch(document, []byte(patch))
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: version 4 %s, version 5 %s\n", patch, four, five)
	}
}
GO
GO111MODULE=off GOPATH="$work/usr/share/gocode" GOCACHE="$work/cache" go run finding | tee seen
diff seen - <<'EXPECTED'
{"rules":[{"host":"a","limit":null}]}: version 4 {"rules":[{"host":"a"}]}, version 5 {"rules":[{"host":"a"}]}
{"rules":[[{"limit":null}],null]}: version 4 {"rules":[[{}],null]}, version 5 {"rules":[[{}],null]}
EXPECTED
