import type { HostedControlPlane } from "@causeway/api";
import type { ControlPlaneAuthentication, ControlPlaneLimits, ControlPlaneSpec } from "../runtime.ts";
import { backupOf, restoreOf } from "./backup-spec.ts";
import type { Observed } from "./gather.ts";
import { runtimeId } from "./names.ts";
import { DEFAULT_SERVICE_CIDR } from "./networks.ts";
import { rotatingOf, rotationOf } from "./plan-authorities.ts";

/** The request to the runtime; undefined while the roots are incomplete. */
export function desired(observed: Observed): ControlPlaneSpec | undefined {
  const { object, cluster, roots, authorities, defaults } = observed;
  if (!cluster || roots.ca === undefined || roots.sa === undefined || defaults.host === undefined) return undefined;
  const network = cluster.spec.clusterNetwork;
  const podCidr = network?.pods?.cidrBlocks?.[0];
  return {
    id: runtimeId(object),
    version: object.spec.version,
    ...runtimeOf(object),
    authority: roots.ca,
    ...(roots.proxy === undefined ? {} : { frontProxy: roots.proxy }),
    serviceAccountKey: roots.sa.key,
    ...(authorities === undefined ? {} : rotationOf(authorities)),
    endpoint: endpointOf(object, defaults.host),
    ...allowedOf(object),
    serviceCidr: network?.services?.cidrBlocks?.[0] ?? DEFAULT_SERVICE_CIDR,
    ...(podCidr === undefined ? {} : { podCidr }),
    dnsDomain: network?.serviceDomain ?? "cluster.local",
    names: object.spec.names ?? [],
    limits: { ...DEFAULT_LIMITS, ...object.spec.limits },
    authentication: authenticationOf(object),
    ...joinOf(observed),
    worker: object.spec.worker === "Own" ? "own" : "shared",
    ...programsOf(observed),
    ...podsOf(observed),
    ...backupsOf(observed),
  };
}

/** What only runtimes of Kubernetes' own programs read. */
function programsOf({ object: { spec }, auditSink }: Observed): Pick<ControlPlaneSpec, "flags" | "audit"> {
  return { ...(spec.flags === undefined ? {} : { flags: spec.flags }), ...(auditSink ? { audit: auditSink } : {}) };
}

function backupsOf({ object, authorities }: Observed): Pick<ControlPlaneSpec, "backup" | "restore" | "rotating"> {
  const [backup, restore] = [backupOf(object), restoreOf(object)];
  const rotating = backup === undefined || authorities === undefined ? {} : rotatingOf(authorities);
  return { ...(backup === undefined ? {} : { backup }), ...(restore === undefined ? {} : { restore }), ...rotating };
}

/** What only runtime Pods reads. */
function podsOf({
  object: { spec },
  initialized,
}: Observed): Pick<ControlPlaneSpec, "replicas" | "pods" | "initialized" | "storageBudget"> {
  return {
    replicas: spec.replicas ?? 1,
    ...(spec.limits?.bytes === undefined ? {} : { storageBudget: spec.limits.bytes }),
    ...(spec.pods === undefined ? {} : { pods: spec.pods }),
    ...(initialized ? { initialized: true as const } : {}),
  };
}

/** An etcd that exists is joined when its certificates are there; before, ports are reserved only. */
function joinOf({ object, etcd }: Observed): Pick<ControlPlaneSpec, "join"> {
  const { datastore } = object.spec;
  if (datastore === undefined) return {};
  return { join: { ...datastore, ...(etcd === undefined ? { stage: "Reserve" } : { certificates: etcd }) } };
}

/** A runtime is immutable: another one has none of its data. */
function runtimeOf({ spec, status }: HostedControlPlane): Pick<ControlPlaneSpec, "runtime"> {
  const runtime = status?.runtime ?? spec.runtime;
  return runtime === undefined ? {} : { runtime };
}

function authenticationOf({ spec }: HostedControlPlane): ControlPlaneAuthentication {
  const { keystone, jwt } = spec.authentication ?? {};
  return {
    ...(keystone === undefined ? {} : { external: { type: "keystone", settings: { ...keystone } } }),
    ...(jwt === undefined ? {} : { jwt }),
  };
}

/**
 * The default storage limits of a control plane: a tenth of etcd's recommended size, so that one tenant leaves capacity
 * for others.
 */
const DEFAULT_LIMITS: ControlPlaneLimits = { objects: 50_000, bytes: 2 ** 30 };

/** An endpoint once published never changes by itself: nodes hold it. Port 0: a free port. */
function endpointOf(object: HostedControlPlane, defaultHost: string): { host: string; port: number } {
  const published = object.status?.endpoint;
  const wanted = object.spec.endpoint;
  return { host: published?.host ?? wanted?.host ?? defaultHost, port: published?.port ?? wanted?.port ?? 0 };
}

/** In one order, so that a set in another order is not another request. */
function allowedOf({ spec }: HostedControlPlane): Pick<ControlPlaneSpec, "allowedCidrs"> {
  const allowed = spec.endpoint?.allowedCIDRs;
  return allowed === undefined ? {} : { allowedCidrs: allowed.toSorted() };
}
