"""HAProxy and nginx as they are, with what a proxy is usually told: who called, not to buffer, and to pass on upgrades."""

HAPROXY = """
global
  no strict-limits
defaults
  mode http
  option forwardfor
  timeout connect 1s
  timeout client 10s
  timeout server 10s
"""
HAPROXY_SERVER = """
listen {name}
  bind 127.0.0.1:{port} {proto}
  server pod 127.0.0.1:{target} {server_proto}
"""
NGINX = """
daemon off;
master_process off;
error_log /dev/null crit;
pid nginx.pid;
events {{}}
http {{
  access_log off;
  map $http_upgrade $upgrade {{ default upgrade; "" ""; }}
  proxy_buffering off;
  proxy_request_buffering off;
  proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
  {servers}
  server {{
    listen 127.0.0.1:{static};
    root {root};
  }}
}}
"""
NGINX_SERVER = {
    1: """
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $upgrade;
      proxy_pass http://127.0.0.1:{target};
    }}
  }}""",
    2: """
  server {{
    listen 127.0.0.1:{port};
    http2 on;
    location / {{
      proxy_http_version {there};
      proxy_set_header Host $host;
      proxy_set_header Connection "";
      proxy_pass http://127.0.0.1:{target};
    }}
  }}"""}


PROTO = {1: "", 2: "proto h2"}


def haproxy(servers):
    """From tuples: port, version of HTTP, the port it passes requests to, and the version there."""
    return HAPROXY + "".join(HAPROXY_SERVER.format(name=f"s{port}", port=port, target=target, proto=PROTO[version], server_proto=PROTO[there])
                             for port, version, target, there in servers)


def nginx(servers, static, root):
    return NGINX.format(static=static, root=root, servers="".join(
        NGINX_SERVER[version].format(port=port, target=target, there={1: "1.1", 2: "2"}[there]) for port, version, target, there in servers))
