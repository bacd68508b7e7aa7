#!/usr/bin/env bash
# apimachinery's strategic merge patch 0.36.4 (Debian's golang-k8s-apimachinery-dev 0.36.4-3), which kube-apiserver applies and kubectl apply
# sends, and a list that another writer has added to.
#
# The guess: where an added item goes follows from the list and the order in the patch. Deleting another item with the same patch, or
# with one before, is no difference, and neither is what follows the deleted one.
#
# What it does: the deleted item is removed in place, in the memory of the list that positions are later looked up in. Added items take
# the places that become free there, and count as if they had been the last of the old list. So an item that the order does not
# name (S, as of "kubectl set env" or a webhook) comes before the added one if the patch also deletes, and after it if not. For
# variables that matters: $(S) in X is replaced only if S comes first. Seen:
#   A D S: add X, delete A: S X D
#   D S: add X: X D S
#
# Needs Go, and apt with Debian sid. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq golang-k8s-apimachinery-dev=0.36.4-3 \
  $(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances golang-k8s-apimachinery-dev \
    | grep -E '^golang-.*-dev$' | grep -v '^golang-k8s-apimachinery-dev$' | sort -u)
for package in *.deb; do
  dpkg -x "$package" .
done
mkdir -p usr/share/gocode/src/finding
cat > usr/share/gocode/src/finding/main.go <<'GO'
package main

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

type Variable struct {
	Name string `json:"name"`
}

// Container has the list as the type of Kubernetes has it.
type Container struct {
	Env []Variable `json:"env" patchStrategy:"merge" patchMergeKey:"name"`
}

func show(what, old, patch string) {
	merged, err := strategicpatch.StrategicMergePatch([]byte(old), []byte(patch), Container{})
	if err != nil {
		panic(err)
	}
	var container Container
	if err := json.Unmarshal(merged, &container); err != nil {
		panic(err)
	}
	fmt.Print(what, ":")
	for _, variable := range container.Env {
		fmt.Print(" ", variable.Name)
	}
	fmt.Println()
}

func main() {
	// What kubectl apply sends when its manifest goes from A, D to X, D, and S is not of a manifest.
	show("A D S: add X, delete A", `{"env":[{"name":"A"},{"name":"D"},{"name":"S"}]}`,
		`{"$setElementOrder/env":[{"name":"X"},{"name":"D"}],"env":[{"name":"X"},{"name":"A","$patch":"delete"}]}`)
	show("D S: add X", `{"env":[{"name":"D"},{"name":"S"}]}`,
		`{"$setElementOrder/env":[{"name":"X"},{"name":"D"}],"env":[{"name":"X"}]}`)
}
GO
GO111MODULE=off GOFLAGS= GOPATH="$work/usr/share/gocode" GOCACHE="$work/cache" go run finding | tee seen
diff seen - <<'EXPECTED'
A D S: add X, delete A: S X D
D S: add X: X D S
EXPECTED
