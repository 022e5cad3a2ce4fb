{{- define "proctor.image" -}}
{{ .Values.image.repository }}{{ with .Values.image.tag }}:{{ . }}{{ end }}
{{- end }}

{{- define "proctor.redisUrl" -}}
{{ .Values.redis.url | default "redis://redis:6379/0" }}
{{- end }}

{{- define "proctor.settings" -}}
{{- range $name, $value := .Values.settings }}
- {name: SANDBOX_{{ upper $name }}, value: {{ and (kindIs "float64" $value) (eq (floor $value) $value) | ternary (printf "%.0f" $value) (toString $value) | quote }}}
{{- end }}
{{- end }}

{{- define "proctor.redisEnvironment" -}}
- {name: SANDBOX_REDIS_URL, value: {{ include "proctor.redisUrl" . | quote }}}
- {name: SANDBOX_REDIS_PASSWORD_FILE, value: /run/secrets/proctor/redis_password}
{{- if ne .Values.redis.name "proctor" }}
- {name: SANDBOX_REDIS_NAME, value: {{ .Values.redis.name | quote }}}
{{- end }}
{{- end }}

{{- /* of annotations, for versions of Kubernetes without the field appArmorProfile */ -}}
{{- define "proctor.appArmor" -}}
{{ with .Values.worker.appArmorProfile }}localhost/{{ . }}{{ else }}unconfined{{ end }}
{{- end }}

{{- /* The rights that firejail needs; docs/containers.md gives the reason for each */ -}}
{{- define "proctor.jailRights" -}}
readOnlyRootFilesystem: true
{{- if semverCompare ">=1.30-0" .Capabilities.KubeVersion.Version }}
appArmorProfile: {{ with .Values.worker.appArmorProfile }}{type: Localhost, localhostProfile: {{ . | quote }}}{{ else }}{type: Unconfined}{{ end }}
{{- end }}
seccompProfile: {{ with .Values.worker.seccompProfile }}{type: Localhost, localhostProfile: {{ . | quote }}}{{ else }}{type: RuntimeDefault}{{ end }}
capabilities:
  drop: [ALL]
  add: [SYS_ADMIN, NET_ADMIN, MKNOD, CHOWN, SETGID, SETUID, SETPCAP, KILL, SYS_CHROOT]
{{- end }}

{{- define "proctor.names" -}}
- to:
    - namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}
    - ipBlock: {cidr: 169.254.20.10/32}  # NodeLocal DNSCache
  ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}]
{{- end }}

{{- define "proctor.toRedis" -}}
{{- if .Values.redis.url }}
- ports: [{port: {{ regexFind ":[0-9]+(/|$)" .Values.redis.url | trimPrefix ":" | trimSuffix "/" | default "6379" }}}]
{{- else }}
- to: [{podSelector: {matchLabels: {app: redis}}}]
  ports: [{port: 6379}]
{{- end }}
{{- end }}
