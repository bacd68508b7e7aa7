-- wrk sends a body of 1 MiB.
wrk.method = "POST"
wrk.body = string.rep("x", 1048576)
