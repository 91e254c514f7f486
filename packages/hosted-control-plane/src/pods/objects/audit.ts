import { auditSinkArgs, auditSinkConfig } from "../../audit-sink.ts";
import type { AuditSink } from "../../runtime.ts";
import type { AuditSettings, AuditWebhook } from "../options.ts";
import type { Mount } from "./pod.ts";
import { AUDIT_LOG_MEGABYTES, auditLogArgs } from "../../audit-log.ts";

/** In the Secret of kube-apiserver: it may have a token. */
export const AUDIT_WEBHOOK_FILE = "audit-webhook.conf";

const FOLDER = "/var/lib/kube-apiserver/audit";
/** Events that wait for the webhook; more are dropped, and no request is held up. */
const BUFFER = 5_000;

/** The flags of kube-apiserver, which has one webhook at most. `pki`: where its Secret is mounted. */
export function auditArgs({ log, webhook }: AuditSettings, sink: AuditSink | undefined, pki: string): string[] {
  const own = sink === undefined ? [] : auditSinkArgs(`${pki}/${AUDIT_WEBHOOK_FILE}`);
  return [...logArgs[log], ...(webhook === undefined ? own : webhookArgs(pki))];
}

const logArgs: Readonly<Record<AuditSettings["log"], readonly string[]>> = {
  Stdout: ["--audit-log-path=-"],
  File: auditLogArgs(`${FOLDER}/audit.log`),
  None: [],
};

function webhookArgs(pki: string): string[] {
  return [
    `--audit-webhook-config-file=${pki}/${AUDIT_WEBHOOK_FILE}`,
    "--audit-webhook-mode=batch",
    `--audit-webhook-batch-buffer-size=${BUFFER}`,
    "--audit-webhook-batch-max-size=200",
    "--audit-webhook-batch-max-wait=5s",
    "--audit-webhook-initial-backoff=5s",
    "--audit-webhook-truncate-enabled=true",
  ];
}

/** The volume of the files. A pod whose volume is full is evicted, so that it has more than the files may have. */
export function auditMounts({ log }: AuditSettings): Mount[] {
  return log === "File" ? [{ name: "audit", path: FOLDER, scratch: `${AUDIT_LOG_MEGABYTES}Mi` }] : [];
}

/** A kubeconfig, in JSON, that leads to the webhook. `id`: "NAMESPACE.NAME" of the control plane. */
export function auditWebhookConfig({ url, certificateAuthority, token }: AuditWebhook, id: string): string {
  const dot = id.indexOf(".");
  const server = `${url.replace(/\/$/, "")}/${id.slice(0, dot)}/${id.slice(dot + 1)}`;
  return auditSinkConfig({ url: server, certificateAuthority, token });
}
