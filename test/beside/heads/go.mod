module activator.dev/test/beside/heads

go 1.24
