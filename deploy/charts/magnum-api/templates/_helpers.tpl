{{- define "magnum.selector" -}}
app.kubernetes.io/name: magnum-api
{{- end }}

{{- define "magnum.secret" -}}
{{- if .Values.tls.certificate -}}magnum-api-serving{{- else -}}{{ .Values.tls.existingSecret }}{{- end -}}
{{- end }}

{{- define "magnum.hasConfig" -}}
{{- if or .Values.keystone.ca .Values.policy -}}true{{- end -}}
{{- end }}

{{- define "magnum.trustees" -}}
{{- if .Values.trustees.cloudsYaml -}}magnum-api-trustees{{- else -}}{{ .Values.trustees.existingSecret }}{{- end -}}
{{- end }}
