{{- define "cinder.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "cinder.restricted" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* One sidecar: dict "name" "image" "args" "config" */ -}}
{{- define "cinder.sidecar" -}}
- name: {{ .name }}
  image: {{ .config.image }}
  args: {{- toYaml (concat .args (.config.extraArgs | default list)) | nindent 4 }}
  {{- with .env }}
  env: {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext: {{- include "cinder.restricted" . | nindent 4 }}
  {{- with .config.resources }}
  resources: {{- toYaml . | nindent 4 }}
  {{- end }}
  volumeMounts: [{ name: socket, mountPath: /csi }]
{{- end }}

{{- define "cinder.placement" -}}
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
