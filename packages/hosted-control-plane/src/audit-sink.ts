import { CausewayError, splitCertificates } from "@causeway/foundation";
import { certificatesProblem, placeProblem } from "./named-servers.ts";
import type { AuditSink, ControlPlaneProblem } from "./runtime.ts";

/** By sink of a spec: control planes are judged again and again. */
const verdicts = new WeakMap<AuditSink, { readonly problem: string | undefined }>();

const TOKEN = /^[\x21-\x7e]{1,4096}$/;

/** What a runtime permits. */
export interface PermittedSinks {
  /** Undefined or empty: the operator permits none. */
  readonly networks: readonly string[] | undefined;
}

/**
 * Why this sink is not accepted. API servers connect to it, so that the operator permits the networks in which it may
 * be. An authority that cannot be read would keep kube-apiserver from starting.
 */
export function auditSinkProblem(
  sink: AuditSink | undefined,
  { networks = [] }: PermittedSinks,
): ControlPlaneProblem | undefined {
  if (sink === undefined) return undefined;
  if (networks.length === 0)
    return {
      code: "AUDIT_SINK_NOT_PERMITTED",
      message: "the operator permits no networks of audit sinks, which spec.audit needs: start with --audit-networks",
      actor: "operator",
    };
  const invalid = authorityProblem(sink) ?? tokenProblem(sink);
  if (invalid !== undefined)
    return { code: "AUDIT_SINK_INVALID", message: `spec.audit.webhook.${invalid}`, actor: "user" };
  const place = placeProblem(sink.url, { networks, option: "--audit-networks" });
  if (place === undefined) return undefined;
  return { code: "AUDIT_SINK_NOT_PERMITTED", message: `spec.audit.webhook.url: ${place}`, actor: "user" };
}

/**
 * Throws what `auditSinkProblem` says.
 *
 * @throws CausewayError AUDIT_SINK_NOT_PERMITTED, AUDIT_SINK_INVALID
 */
export function refuseAuditSink(sink: AuditSink | undefined, permitted: PermittedSinks): void {
  const problem = auditSinkProblem(sink, permitted);
  if (problem !== undefined)
    throw new CausewayError(problem.code, problem.message, {
      hint: "Correct spec.audit, or have the operator permit the sink's network with --audit-networks.",
    });
}

function authorityProblem(sink: AuditSink): string | undefined {
  const { certificateAuthority: pem } = sink;
  if (pem === undefined) return undefined;
  const known = verdicts.get(sink) ?? { problem: certificatesProblem(pem) };
  verdicts.set(sink, known);
  return known.problem === undefined ? undefined : `certificateAuthority: ${known.problem}`;
}

/** Neither the token nor a part of it is in the message. */
function tokenProblem({ tokenSecret, token }: AuditSink): string | undefined {
  if (tokenSecret === undefined) return undefined;
  if (token === undefined)
    return `tokenSecret: Secret ${tokenSecret} with the label cluster.x-k8s.io/cluster-name of the Cluster and the key token does not exist in the namespace of the control plane`;
  return TOKEN.test(token) ? undefined : `tokenSecret: the key token of Secret ${tokenSecret} has no token in one line`;
}

/** Events that wait for a tenant's sink; more are dropped, and no request is held up. */
const BUFFER = 2_000;

/**
 * The flags of kube-apiserver with a tenant's sink. Of one that does not respond, few batches are repeated at a time:
 * two begin in a second, of 100 events at most, and each is given up after five attempts.
 */
export function auditSinkArgs(file: string): string[] {
  return [
    `--audit-webhook-config-file=${file}`,
    "--audit-webhook-mode=batch",
    `--audit-webhook-batch-buffer-size=${BUFFER}`,
    "--audit-webhook-batch-max-size=100",
    "--audit-webhook-batch-max-wait=5s",
    "--audit-webhook-batch-throttle-qps=2",
    "--audit-webhook-batch-throttle-burst=4",
    "--audit-webhook-initial-backoff=2s",
    "--audit-webhook-truncate-enabled=true",
  ];
}

/** A kubeconfig, in JSON, that leads kube-apiserver to a sink, by a proxy if there is one. */
export function auditSinkConfig(
  { url, certificateAuthority, token }: Pick<AuditSink, "url" | "certificateAuthority" | "token">,
  proxy?: string,
): string {
  const ca =
    certificateAuthority === undefined
      ? {}
      : {
          "certificate-authority-data": Buffer.from(splitCertificates(certificateAuthority).join("")).toString(
            "base64",
          ),
        };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name: "audit", cluster: { server: url, ...ca, ...(proxy === undefined ? {} : { "proxy-url": proxy }) } },
    ],
    users: [{ name: "kube-apiserver", user: token === undefined ? {} : { token } }],
    contexts: [{ name: "audit", context: { cluster: "audit", user: "kube-apiserver" } }],
    "current-context": "audit",
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
