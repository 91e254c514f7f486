import { join } from "node:path";
import { CausewayError } from "@causeway/foundation";
import type { ApiServer, AuditOptions, AuthenticationOptions } from "@causeway/apiserver";
import { auditPolicy } from "./at-rest.ts";
import { auditSinkProblem, refuseAuditSink } from "./audit-sink.ts";
import { issuersConfiguration, refuseIssuers } from "./issuers.ts";
import { rootsDigest, type ControlPlaneRuntime, type ControlPlaneSpec, type ControlPlaneState } from "./runtime.ts";

/** The API server whose logical clusters the control planes are. */
export interface EmbeddedRuntimeOptions {
  readonly apiServer: ApiServer;
  /** The address that control planes listen on, such as 0.0.0.0. Default: the one that each is reached at. */
  readonly listen?: string;
  /**
   * Networks of nodes whose kubelets the control planes may reach, and the folder of a tunnel's sockets (ID.sock) that
   * lead there. Default: none. A tenant writes its nodes' addresses, so the operator names the networks.
   */
  readonly nodes?: { readonly networks: readonly string[]; readonly tunnels?: string };
  /** Networks of the OIDC issuers that tenants may name. Default: they may name none. */
  readonly issuerNetworks?: readonly string[];
  /** Networks of the sinks of audit events that tenants may name. Default: they may name none. */
  readonly auditNetworks?: readonly string[];
}

/**
 * Control planes as logical clusters of the embedded API server, each with roots, data, identities and a
 * listener of its own. Its ports and data live in the server's state; requests are remembered only
 * as long as the process runs, so that a new process opens every control plane again.
 */
export function createEmbeddedRuntime(options: EmbeddedRuntimeOptions): ControlPlaneRuntime {
  const running = new Map<string, ControlPlaneState>();
  return {
    async ensure(spec) {
      if (spec.join !== undefined)
        throw new CausewayError("RUNTIME_CANNOT_JOIN", "the embedded runtime has no etcd that could join another", {
          hint: "Set spec.runtime to Process.",
        });
      if (spec.allowedCidrs !== undefined)
        throw new CausewayError(
          "RUNTIME_HAS_NO_ACCESS_LIST",
          "the embedded runtime has no spec.endpoint.allowedCIDRs",
          {
            hint: "Remove the field. Control planes with spec.runtime Pods have it.",
          },
        );
      if (spec.flags !== undefined)
        throw new CausewayError("RUNTIME_HAS_NO_FLAGS", "the embedded runtime has no programs with spec.flags", {
          hint: "Remove spec.flags. Control planes with spec.runtime Process or Pods have them.",
        });
      if (spec.backup !== undefined || spec.restore !== undefined)
        throw new CausewayError(
          "RUNTIME_HAS_NO_BACKUPS",
          "the embedded runtime does not back up or restore single control planes with spec.backup and spec.restore",
          {
            hint: "Remove the field: `causeway backup FILE` has all control planes of this runtime. Those with spec.runtime Process or Pods have backups of their own.",
          },
        );
      refuseIssuers(spec.authentication.jwt, options.issuerNetworks);
      await refuseSink(spec, options, running.has(spec.id));
      const cluster = await options.apiServer.ensureCluster(spec.id, {
        authority: spec.authority,
        serviceAccountKey: spec.serviceAccountKey,
        rotation: spec.rotation ?? "none",
        // Without networks of nodes no extension server can be reached.
        ...(spec.frontProxy === undefined || (options.nodes?.networks ?? []).length === 0
          ? {}
          : { frontProxy: spec.frontProxy }),
        serviceCidr: spec.serviceCidr,
        ...(spec.podCidr === undefined ? {} : { podCidr: spec.podCidr }),
        dnsDomain: spec.dnsDomain,
        version: spec.version,
        limits: spec.limits,
        // Always given: options that are left out remain as they were.
        authentication: authenticationOf(spec, options),
        audit: auditOf(spec, options),
        worker: spec.worker,
        kubelets: kubeletsOf(spec.id, options),
        controllers: true,
        listen: {
          host: options.listen ?? spec.endpoint.host,
          port: spec.endpoint.port,
          names: [spec.endpoint.host, ...spec.names],
        },
      });
      const port = cluster.port ?? spec.endpoint.port;
      const state: ControlPlaneState = {
        ready: true,
        runtime: "Embedded",
        endpoint: { host: spec.endpoint.host, port },
        version: spec.version,
        names: spec.names,
        limits: spec.limits,
        authentication: spec.authentication,
        ...(spec.audit === undefined ? {} : { audit: spec.audit }),
        roots: rootsDigest(spec),
      };
      running.set(spec.id, state);
      return state;
    },
    async observe(id) {
      const problem = options.apiServer.clusterProblem(id);
      const state = running.get(id) ?? leftover(options.apiServer, id, problem);
      if (problem !== undefined) return state && { ...state, ready: false, message: `not served: ${problem}` };
      const parked = options.apiServer.cluster(id)?.parked;
      return state && parked ? { ...state, ready: false, parked } : state;
    },
    onChange: (listener) => options.apiServer.onChange(listener),
    async tunnel(id) {
      const { tunnel: socket } = kubeletsOf(id, options);
      return socket === undefined ? undefined : { socket };
    },
    async remove(id) {
      await options.apiServer.removeCluster(id);
      running.delete(id);
    },
  };
}

/** An issuer's keys are requested from the permitted networks only. */
function authenticationOf(
  { authentication: { external, jwt } }: ControlPlaneSpec,
  { issuerNetworks = [] }: EmbeddedRuntimeOptions,
): AuthenticationOptions {
  return {
    ...(external === undefined ? {} : { external }),
    ...(jwt === undefined ? {} : { configuration: issuersConfiguration(jwt, "v1"), issuerNetworks }),
  };
}

/**
 * A new process may permit other networks than those that the server remembers: nothing more is sent to a sink that is
 * refused now.
 */
async function refuseSink(
  { id, audit }: ControlPlaneSpec,
  { apiServer, auditNetworks: networks }: EmbeddedRuntimeOptions,
  isChecked: boolean,
): Promise<void> {
  if (auditSinkProblem(audit, { networks }) === undefined) return;
  if (!isChecked && apiServer.cluster(id) !== undefined) await apiServer.ensureCluster(id, { audit: "none" });
  refuseAuditSink(audit, { networks });
}

/** The events that Kubernetes' own programs record. They go to the permitted networks only. */
function auditOf(
  { audit }: ControlPlaneSpec,
  { auditNetworks: networks = [] }: EmbeddedRuntimeOptions,
): AuditOptions | "none" {
  if (audit === undefined) return "none";
  const { url, certificateAuthority, token } = audit;
  const server = {
    url,
    ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
    ...(token === undefined ? {} : { token }),
    networks,
  };
  return { policy: JSON.parse(auditPolicy) as Record<string, unknown>, server };
}

function kubeletsOf(id: string, { nodes }: EmbeddedRuntimeOptions): { networks: readonly string[]; tunnel?: string } {
  const { networks = [], tunnels } = nodes ?? {};
  return { networks, ...(tunnels === undefined ? {} : { tunnel: join(tunnels, `${id}.sock`) }) };
}

/** Data of a control plane that this process has not opened yet: it exists, and is not ready. */
function leftover(apiServer: ApiServer, id: string, problem: string | undefined): ControlPlaneState | undefined {
  const cluster = apiServer.cluster(id);
  if (cluster === undefined && problem === undefined) return undefined;
  return {
    ready: false,
    runtime: "Embedded",
    endpoint: { host: "", port: cluster?.port ?? 0 },
    version: "",
    names: [],
    limits: { objects: 0, bytes: 0 },
    authentication: {},
    message: "the control plane is being opened",
  };
}
