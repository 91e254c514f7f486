import type { Service } from "@causeway/kubernetes";
import { trustedBy } from "../runtime.ts";
import { heldByOf } from "./migration/api-servers.ts";
import { mayBeFrozen } from "./migration/urgent.ts";
import { API_SERVICE_PORT } from "./objects/credentials.ts";
import type { Endpoint, Observed } from "./observed.ts";
import { readyAddresses } from "./rollout.ts";
import type { Stages } from "./stages.ts";
import type { Step } from "./steps.ts";
import { digestOf, joinedAnnotation } from "./tenant.ts";

/** The URL at which what machines need was created last, by this process or by one before it. */
export function joinedAt(observed: Observed): string | undefined {
  return observed.joinedAt ?? observed.namespace?.metadata.annotations?.[joinedAnnotation];
}

/** What machines need was created at this URL, whatever the roots were. */
export function isJoinedAt(observed: Observed, server: string): boolean {
  const at = joinedAt(observed);
  return at === server || at?.startsWith(`${server}#`) === true;
}

/** Where what machines need was created, and with which roots, if they are being rotated. */
export function joinMark(spec: Observed["spec"], server: string): string {
  return spec.rotation === undefined ? server : `${server}#${digestOf(trustedBy(spec))}`;
}

/** Machines that join read roots that are not those of now. */
export function waitsToPublish(observed: Observed, server: string): boolean {
  return isJoinedAt(observed, server) && joinedAt(observed) !== joinMark(observed.spec, server);
}

/**
 * Each process creates them once, since the tenant may have deleted some. A tenant names the endpoint: only our own
 * pods and Service are connected to.
 */
export function joinSteps(
  observed: Observed,
  { isServing, isComplete }: Stages,
  { server, port }: { server: string; port: number },
): Step[] {
  const { joinedAt: done, spec } = observed;
  if (mayBeFrozen(observed, observed.migration)) return [];
  const mark = joinMark(spec, server);
  // New roots are published when every API server has them.
  if (!isServing || done === mark || (!isComplete && waitsToPublish(observed, server))) return [];
  return [{ type: "create-join-objects", server, mark, addresses: ownAddresses(observed, port) }];
}

/** URLs of our own pods and Service. */
export function ownAddresses(observed: Observed, port: number): string[] {
  const { live } = observed;
  const heldBy = heldByOf(observed);
  // What is written to an own etcd that does not serve yet would be lost if the move returns.
  const pods = observed.pods.filter(
    ({ metadata }) => heldBy === undefined || metadata.labels?.["pod-template-hash"] === heldBy,
  );
  const { clusterIP } = (live.get("Service/kube-apiserver") as Service | undefined)?.spec ?? {};
  const addresses = readyAddresses(pods, "kube-apiserver").map((host) => urlOf({ host, port }));
  const inside =
    clusterIP === undefined || clusterIP === "None" ? [] : [urlOf({ host: clusterIP, port: API_SERVICE_PORT })];
  return [...addresses, ...inside];
}

/** Of an endpoint, with an IPv6 address in brackets. */
export function urlOf({ host, port }: Endpoint): string {
  return `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
