{{- define "manila.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "manila.restricted" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* "REPOSITORY:TAG", or the map of upstream's charts: repository, tag, pullPolicy. */ -}}
{{- define "manila.sidecarImage" -}}
{{- if kindIs "map" . }}{{ .repository }}:{{ .tag }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{- /* How often the kubelet reads the driver's probe: dict of sidecars.livenessprobe. */ -}}
{{- define "manila.probe" -}}
httpGet: { path: /healthz, port: 9808 }
initialDelaySeconds: {{ .initialDelaySeconds }}
timeoutSeconds: {{ .timeoutSeconds }}
periodSeconds: {{ .periodSeconds }}
{{- end }}

{{- /* One sidecar: dict "name" "image" "args" "config" */ -}}
{{- define "manila.sidecar" -}}
- name: {{ .name }}
  image: {{ include "manila.sidecarImage" .config.image }}
  {{- if kindIs "map" .config.image }}
  {{- with .config.image.pullPolicy }}
  imagePullPolicy: {{ . }}
  {{- end }}
  {{- end }}
  args: {{- toYaml (concat .args (.config.extraArgs | default list)) | nindent 4 }}
  {{- with .env }}
  env: {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext: {{- include "manila.restricted" . | nindent 4 }}
  {{- with .config.resources }}
  resources: {{- toYaml . | nindent 4 }}
  {{- end }}
  volumeMounts: [{ name: socket, mountPath: /csi }]
{{- end }}

{{- define "manila.placement" -}}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{- define "manila.driver" -}}
{{- if not (has .Values.protocol (list "NFS" "CEPHFS")) }}{{ fail "protocol is NFS or CEPHFS" }}{{ end -}}
{{ .Values.driverName | default (printf "%s.manila.csi.openstack.org" (lower .Values.protocol)) }}
{{- end }}
{{- define "manila.folder" -}}
/csi-{{ lower .Values.protocol }}
{{- end }}
