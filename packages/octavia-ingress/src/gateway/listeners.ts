import type { WantedCondition } from "@causeway/kubernetes";
import { GATEWAY_GROUP, type GatewayListener } from "../objects/gateway.ts";
import type { Observed } from "./observed.ts";
import { isPermitted } from "./references.ts";

/** A listener of a Gateway, judged. */
export interface JudgedListener {
  readonly listener: GatewayListener;
  /** Of routes that may be attached. */
  readonly kinds: readonly ("HTTPRoute" | "TLSRoute")[];
  /** Names of its Secrets, as "namespace/name". */
  readonly secrets: readonly string[];
  readonly conflicted: WantedCondition;
  readonly accepted: WantedCondition;
  readonly resolved: WantedCondition;
  /** Its Secrets can be used, and where it names some; routes of a kind that it cannot have are only left out. */
  readonly hasCertificates: boolean;
}

/** Requests are served through it. */
export function isServing({ accepted, hasCertificates, conflicted, kinds }: JudgedListener): boolean {
  return accepted.status === "True" && conflicted.status === "False" && hasCertificates && kinds.length > 0;
}

const good = (type: string, reason: string, status: "True" | "False" = "True"): WantedCondition => ({
  type,
  status,
  reason,
});

/** What a listener is, for Octavia. */
export function octaviaProtocol({ protocol, tls }: GatewayListener): "HTTP" | "TERMINATED_HTTPS" | "HTTPS" | undefined {
  if (protocol === "HTTP") return "HTTP";
  if (protocol === "HTTPS" && (tls?.mode ?? "Terminate") === "Terminate") return "TERMINATED_HTTPS";
  return protocol === "TLS" && tls?.mode === "Passthrough" ? "HTTPS" : undefined;
}

/** Judges each listener of a Gateway; of two that conflict, the first one is served. */
export function judgeListeners(observed: Observed): JudgedListener[] {
  const { listeners } = observed.gateway.spec;
  return listeners.map((listener, i) => judge(observed, listener, listeners.slice(0, i)));
}

function judge(observed: Observed, listener: GatewayListener, before: readonly GatewayListener[]): JudgedListener {
  const protocol = octaviaProtocol(listener);
  const supported = protocol === "HTTPS" ? ["TLSRoute" as const] : protocol ? ["HTTPRoute" as const] : [];
  const wanted = listener.allowedRoutes?.kinds ?? [];
  const isSupported = (kind: { group?: string; kind: string }): boolean =>
    (kind.group ?? GATEWAY_GROUP) === GATEWAY_GROUP && supported.some((name) => name === kind.kind);
  const kinds =
    wanted.length === 0 ? supported : supported.filter((name) => wanted.some((k) => isSupported(k) && k.kind === name));
  const certificates = protocol === "TERMINATED_HTTPS" ? certificatesOf(observed, listener) : { secrets: [] };
  const badKind = wanted.find((kind) => !isSupported(kind));
  return {
    listener,
    kinds,
    secrets: certificates.secrets,
    conflicted: conflict(listener, before),
    accepted: acceptance(listener, protocol),
    hasCertificates: certificates.problem === undefined,
    resolved:
      certificates.problem ??
      (badKind
        ? {
            type: "ResolvedRefs",
            status: "False",
            reason: "InvalidRouteKinds",
            message: `kind ${badKind.kind} is not supported`,
          }
        : good("ResolvedRefs", "ResolvedRefs")),
  };
}

function acceptance({ protocol, tls }: GatewayListener, octavia: ReturnType<typeof octaviaProtocol>): WantedCondition {
  const refused = (reason: string, message: string): WantedCondition => ({
    type: "Accepted",
    status: "False",
    reason,
    message,
  });
  // Of protocol TLS the mode alone is what Octavia does not have.
  if (octavia === undefined)
    return refused(
      protocol === "TLS" ? "UnsupportedValue" : "UnsupportedProtocol",
      `protocol ${protocol}${tls?.mode === undefined ? "" : ` with tls.mode ${tls.mode}`} is not supported`,
    );
  if (tls?.frontendValidation !== undefined)
    return refused("UnsupportedValue", "tls.frontendValidation is not supported");
  return good("Accepted", "Accepted");
}

/**
 * One port of a load balancer has one protocol, and one listener for each hostname; one in all where TLS passes
 * through.
 */
function conflict(
  { port, protocol, hostname = "", tls }: GatewayListener,
  before: readonly GatewayListener[],
): WantedCondition {
  const same = before.filter((other) => other.port === port);
  const isOther = (other: GatewayListener): boolean =>
    other.protocol !== protocol || (other.tls?.mode ?? "") !== (tls?.mode ?? "");
  if (same.some(isOther))
    return {
      type: "Conflicted",
      status: "True",
      reason: "ProtocolConflict",
      message: `port ${port} has another protocol`,
    };
  if (same.some((other) => (other.hostname ?? "") === hostname))
    return {
      type: "Conflicted",
      status: "True",
      reason: "HostnameConflict",
      message: `port ${port} has another listener of this hostname`,
    };
  if (same.length > 0 && protocol === "TLS")
    return {
      type: "Conflicted",
      status: "True",
      reason: "HostnameConflict",
      message: `port ${port}: Octavia cannot choose by server name where TLS passes through`,
    };
  return good("Conflicted", "NoConflicts", "False");
}

function certificatesOf(
  { gateway, grants, secrets, keyManager }: Observed,
  { tls }: GatewayListener,
): { readonly secrets: readonly string[]; readonly problem?: WantedCondition } {
  const refused = (reason: string, message: string) =>
    ({ secrets: [], problem: { type: "ResolvedRefs", status: "False", reason, message } }) as const;
  const refs = tls?.certificateRefs ?? [];
  const { namespace: own = "" } = gateway.metadata;
  if (refs.length === 0) return refused("InvalidCertificateRef", "tls.certificateRefs is empty");
  const names: string[] = [];
  for (const { group = "", kind = "Secret", name, namespace = own } of refs) {
    if (group !== "" || kind !== "Secret") return refused("InvalidCertificateRef", `${kind} ${name} is not a Secret`);
    if (!isPermitted(grants, { kind: "Gateway", namespace: own }, { group: "", kind: "Secret", namespace, name }))
      return refused("RefNotPermitted", `no ReferenceGrant of namespace ${namespace} allows Secret ${name}`);
    const bundle = secrets.get(`${namespace}/${name}`) ?? { problem: "does not exist" };
    if ("problem" in bundle) return refused("InvalidCertificateRef", `Secret ${namespace}/${name} ${bundle.problem}`);
    names.push(`${namespace}/${name}`);
  }
  if (!keyManager) return refused("InvalidCertificateRef", "the cloud has no key manager (Barbican) for TLS");
  return { secrets: names };
}
