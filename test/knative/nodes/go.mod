module activator.dev/nodes

go 1.25
