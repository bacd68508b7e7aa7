{{/* Refuses what cannot work, in words. */}}
{{- define "activator.check" -}}
{{- if and (ne .Values.mode "standalone") (semverCompare "<1.34.0-0" .Capabilities.KubeVersion.Version) -}}
{{- fail (printf "mode %q needs Kubernetes 1.34 or later, as Knative Serving does, but this is %s; mode \"standalone\" needs 1.29" .Values.mode .Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- if and .Values.serviceMonitor.enabled .Values.podMonitor.enabled -}}
{{- fail "serviceMonitor and podMonitor are both enabled, so that Prometheus would scrape each pod twice: enable one" -}}
{{- end -}}
{{- if and .Values.certificate.metrics (not .Values.certificate.enabled) -}}
{{- fail "certificate.metrics is true, but certificate.enabled is not" -}}
{{- end -}}
{{- if and .Values.certificate.enabled (not .Values.certificate.issuerRef.name) -}}
{{- fail "certificate.enabled is true, but certificate.issuerRef.name names no issuer" -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- fail "httpRoute.enabled is true, but httpRoute.parentRefs names no Gateway" -}}
{{- end -}}
{{- if and .Values.admit.enabled .Values.admit.from (not .Values.networkPolicy.enabled) -}}
{{- fail "admit.from says who may ask, but networkPolicy.enabled is false, so that all may" -}}
{{- end -}}
{{- if and .Values.standalone.podDeletionCost (not .Values.rbac.pods) -}}
{{- fail "standalone.podDeletionCost is true, but rbac.pods is not: pods are listed before they are patched" -}}
{{- end -}}
{{- if and .Values.picker.pools (or (not .Values.picker.enabled) (ne .Values.mode "standalone")) -}}
{{- fail "picker.pools is true, but picker.enabled is not, or mode is not \"standalone\"" -}}
{{- end -}}
{{- if and .Values.picker.enabled .Values.picker.from (not .Values.networkPolicy.enabled) -}}
{{- fail "picker.from says who may ask, but networkPolicy.enabled is false, so that all may" -}}
{{- end -}}
{{- if and (eq .Values.mode "replace") (ne .Release.Namespace .Values.systemNamespace) -}}
{{- fail (printf "mode \"replace\" must be installed where Knative Serving is: use --namespace %s, or set systemNamespace to %s; without Knative, set mode to standalone" .Values.systemNamespace .Release.Namespace) -}}
{{- end -}}
{{- if and .Values.autoscaling.enabled (gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) -}}
{{- fail (printf "autoscaling.minReplicas is %d, but autoscaling.maxReplicas is %d" (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) -}}
{{- end -}}
{{- if and (eq .Values.mode "beside") (eq (include "activator.name" .) "activator") (eq .Release.Namespace .Values.systemNamespace) -}}
{{- fail "mode \"beside\" needs a name that is not Knative's: give the release one that is not \"activator\", or set fullnameOverride" -}}
{{- end -}}
{{- end -}}

{{/* The name of the Deployment, and the stem of other names. */}}
{{- define "activator.name" -}}
{{- if eq .Values.mode "replace" -}}
activator
{{- else -}}
{{- .Values.fullnameOverride | default .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The Service; without Knative it is what people point an Ingress at. */}}
{{- define "activator.service" -}}
{{ include "activator.name" . }}{{ eq .Values.mode "standalone" | ternary "" "-service" }}
{{- end -}}

{{/* Without Knative: the Lease by which one activator is elected. */}}
{{- define "activator.lease" -}}
{{ get .Values.properties "activator.standalone.lease" | default (include "activator.name" .) }}
{{- end -}}

{{/* Where the ConfigMaps are. */}}
{{- define "activator.systemNamespace" -}}
{{ eq .Values.mode "standalone" | ternary .Release.Namespace .Values.systemNamespace }}
{{- end -}}

{{- define "activator.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "activator.name" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{/* Roles of the whole cluster carry the namespace, so that two releases do not share one. */}}
{{- define "activator.role" -}}
{{- if eq .Values.mode "replace" -}}
knative-serving-activator
{{- else -}}
{{- printf "%s-%s" .Release.Namespace (include "activator.name" .) -}}
{{- end -}}
{{- end -}}

{{/* What the Deployment and the Service select by. It can never be changed. */}}
{{- define "activator.selector" -}}
{{- if eq .Values.mode "replace" -}}
app: activator
role: activator
{{- else -}}
app: {{ include "activator.name" . }}
role: activator-{{ .Values.mode }}
{{- end -}}
{{- end -}}

{{- define "activator.labels" -}}
app.kubernetes.io/component: activator
app.kubernetes.io/name: {{ eq .Values.mode "replace" | ternary "knative-serving" "activator" }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Knative's controller is given the rules of roles with this label. */}}
{{- define "activator.aggregation" -}}
{{- if eq .Values.mode "replace" -}}
serving.knative.dev/controller: "true"
{{- end -}}
{{- end -}}

{{- define "activator.image" -}}
{{- $repository := .Values.image.repository -}}
{{- with .Values.global.imageRegistry -}}
{{- /* The first part is a registry if it has a dot or a port. */}}
{{- $repository = printf "%s/%s" (trimSuffix "/" .) (regexReplaceAll "^[^/]*[.:][^/]*/" $repository "") -}}
{{- end -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ $repository }}@{{ .digest }}
{{- else -}}
{{ $repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "activator.configMap" -}}
{{- if eq .mode "replace" -}}
config-{{ .kind }}
{{- else -}}
{{ .name }}-{{ .kind }}
{{- end -}}
{{- end -}}

{{/* A probe: the values, with our handler unless they have one. */}}
{{- define "activator.probe" -}}
{{- if or .values.httpGet .values.tcpSocket .values.exec .values.grpc -}}
{{ toYaml .values }}
{{- else -}}
{{ .handler }}
{{- with .values }}
{{ toYaml . }}
{{- end }}
{{- end -}}
{{- end -}}

{{- define "activator.readiness" -}}
httpGet:
  port: 8012
  httpHeaders:
    - name: k-kubelet-probe
      value: activator
{{- end -}}

{{/*
How the kubelet asks whether the process lives: the management port, in the scheme it speaks. Where the kubelet
cannot ask it, because it wants a client certificate or has a different address, the port for requests
must take a connection.
*/}}
{{- define "activator.liveness" -}}
{{- $setting := dict }}
{{- $env := dict }}
{{- range .Values.env }}
{{- $_ := set $env .name (.value | default (ternary "set" "" (hasKey . "valueFrom"))) }}
{{- end }}
{{- range $name := list "host" "tls-cert" "tls-client-auth" }}
{{- $variable := printf "METRICS_PROMETHEUS_%s" ($name | upper | replace "-" "_") }}
{{- $value := get $.Values.properties (printf "activator.metrics-server.%s" $name) | default (get $env $variable) }}
{{- $_ := set $setting $name ($value | toString) }}
{{- end }}
{{- if .Values.certificate.metrics }}
{{- $_ := set $setting "tls-cert" "set" }}
{{- end }}
{{- $host := get $.Values.properties "server.address" | default (get $setting "host") | toString }}
{{- if or (eq (get $setting "tls-client-auth") "require") (not (has $host (list "" "0.0.0.0"))) -}}
tcpSocket:
  port: 8012
{{- else -}}
httpGet:
  port: 9090
  path: /actuator/health/liveness
  {{- if get $setting "tls-cert" }}
  scheme: HTTPS
  {{- end }}
{{- end }}
{{- end }}

{{/* The Secret that cert-manager writes. */}}
{{- define "activator.certificate" -}}
{{ .Values.certificate.secretName | default (printf "%s-tls" (include "activator.name" .)) }}
{{- end -}}

{{/* How Prometheus scrapes, of "monitor": a ServiceMonitor's or a PodMonitor's values. */}}
{{- define "activator.scrape" -}}
{{- $values := .monitor -}}
path: /metrics
interval: {{ $values.interval }}
{{- with $values.scrapeTimeout }}
scrapeTimeout: {{ . }}
{{- end }}
{{- $scheme := $values.scheme | default (.root.Values.certificate.metrics | ternary "https" "") }}
{{- with $scheme }}
scheme: {{ . }}
{{- end }}
{{- if $values.tlsConfig }}
tlsConfig:
  {{- toYaml $values.tlsConfig | nindent 2 }}
{{- else if .root.Values.certificate.metrics }}
tlsConfig:
  ca:
    secret:
      name: {{ include "activator.certificate" .root }}
      key: ca.crt
  serverName: {{ include "activator.service" .root }}.{{ .root.Release.Namespace }}.svc
{{- end }}
{{- with $values.metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
