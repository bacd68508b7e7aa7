#!/usr/bin/env bash
# kubeclient 4.13.0 (Ruby; Debian's ruby-kubeclient 4.13.0-4, with recursive-open-struct 2.1.1), and server-side apply.
#
# The guess: apply_config_map sends the Kubeclient::Resource that its README passes, in JSON, as create_config_map and
# update_config_map do.
#
# What it does: it sends a JSON string with what Ruby prints for that object. kube-apiserver 1.36 refuses it: "cannot unmarshal string
# into Go value of type map[string]interface {}". A Hash is sent as expected. Seen:
#   create, a Resource: Hash [["apiVersion", "v1"], ["data", {"c"=>"d"}], ["kind", "ConfigMap"], ["metadata", {"name"=>"a", "namespace"=>"b"}]]
#   apply, a Resource: String #<Kubeclient::Resource
#   apply, a Hash: Hash [["data", {"c"=>"d"}], ["metadata", {"name"=>"a", "namespace"=>"b"}]]
#
# Needs Ruby 3.3, and apt with Debian sid. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq ruby-kubeclient=4.13.0-4 ruby-recursive-open-struct=2.1.1-1 ruby-http ruby-http-form-data ruby-jsonpath ruby-rest-client \
  ruby-http-accept ruby-http-cookie ruby-domain-name ruby-mime-types ruby-mime-types-data ruby-netrc ruby-multi-json ruby-llhttp
for package in *.deb; do
  dpkg -x "$package" .
done
cat > finding.rb <<'RUBY'
require 'json'
require 'kubeclient'
require 'socket'

bodies = Queue.new
server = TCPServer.new('127.0.0.1', 0)
Thread.new do
  loop do
    Thread.new(server.accept) do |socket|
      line = socket.gets
      length = 0
      while (field = socket.gets.strip) != ''
        length = field.split.last.to_i if field =~ /\Acontent-length:/i
      end
      bodies << JSON.parse(socket.read(length)) if length > 0
      answer = if line.start_with?('GET')
                 { kind: 'APIResourceList', groupVersion: 'v1',
                   resources: [{ name: 'configmaps', namespaced: true, kind: 'ConfigMap', verbs: [] }] }
               else
                 { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', namespace: 'b' } }
               end.to_json
      socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: #{answer.bytesize}\r\n" \
        "Connection: close\r\n\r\n#{answer}")
      socket.close
    end
  end
end
client = Kubeclient::Client.new("http://127.0.0.1:#{server.addr[1]}/api", 'v1')
map = { metadata: { name: 'a', namespace: 'b' }, data: { c: 'd' } }
show = lambda do |what|
  body = bodies.pop
  puts "#{what}: #{body.class} #{body.is_a?(Hash) ? body.sort.to_s : body[0, 22]}"
end
client.create_config_map(Kubeclient::Resource.new(map))
show.call('create, a Resource')
client.apply_config_map(Kubeclient::Resource.new(map), field_manager: 'finding')
show.call('apply, a Resource')
client.apply_config_map(map, field_manager: 'finding')
show.call('apply, a Hash')
RUBY
gems="$work/usr/share/rubygems-integration/all:$(echo "$work"/usr/lib/*/rubygems-integration/*)"
GEM_PATH="$gems" ruby -W0 -I usr/lib/ruby/vendor_ruby finding.rb | tee seen
diff seen - <<'EXPECTED'
create, a Resource: Hash [["apiVersion", "v1"], ["data", {"c"=>"d"}], ["kind", "ConfigMap"], ["metadata", {"name"=>"a", "namespace"=>"b"}]]
apply, a Resource: String #<Kubeclient::Resource
apply, a Hash: Hash [["data", {"c"=>"d"}], ["metadata", {"name"=>"a", "namespace"=>"b"}]]
EXPECTED
