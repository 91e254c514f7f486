import { labels, type Cluster, type OpenStackServer } from "@causeway/api";
import { isDeleting, type Informer, type ObjectKey, type Secret } from "@causeway/kubernetes";
import type { Session } from "../identity/sessions.ts";
import { isPaused } from "../openstackcluster/gather.ts";
import { claimOf, imageOf, interestsOf, neededOf, readCloud, type MachineSources } from "../openstackmachine/gather.ts";
import type { Observed } from "./plan.ts";
import { asMachine, isOfMachine } from "./view.ts";

/** The informers that an OpenStackServer is gathered from, and its sessions with clouds. */
export type ServerSources = Pick<
  MachineSources,
  "sessions" | "interests" | "images" | "refusals" | "clock" | "refreshedAt" | "claims" | "addresses"
> & {
  readonly clusters: Informer<Cluster>;
  readonly openStackServers: Informer<OpenStackServer>;
  readonly secrets: Informer<Secret>;
};

/**
 * What the plan of a server reads, and the session that its steps use; undefined: there is none, or it is too early.
 */
export interface ServerGathered extends Observed {
  readonly session: Session | undefined;
}

/**
 * Reads an OpenStackServer and what its project holds. One that belongs to a machine costs no call until it is deleted.
 */
export async function gather(
  sources: ServerSources,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<ServerGathered | undefined> {
  const object = sources.openStackServers.get(key);
  if (!object) {
    sources.interests.clear(key);
    return undefined;
  }
  const view = asMachine(object);
  const clusterName = object.metadata.labels?.[labels.clusterName];
  const cluster = clusterName === undefined ? undefined : sources.clusters.get({ ...key, name: clusterName });
  const secret = object.spec.userDataRef?.name;
  const data = secret ? sources.secrets.get({ ...key, name: secret })?.data?.["value"] : undefined;
  const base = {
    object,
    clusterName,
    paused: isPaused(object, cluster),
    hold: sources.refusals.get(object),
    image: imageOf(sources, view),
    claim: claimOf(sources, view),
    ...(data === undefined || !secret ? {} : { userData: secret }),
  };
  if (isOfMachine(object) && !isDeleting(object)) {
    sources.interests.clear(key);
    return { ...base, session: undefined, identity: { ok: false, reason: "Waiting", message: "Not needed" } };
  }
  sources.interests.set(key, interestsOf(view, claimOf(sources, view)));
  const place = { reference: object.spec.identityRef, namespace: key.namespace };
  const opened = await sources.sessions.get(place, (watch) => neededOf(view, watch), signal);
  if (!opened.ok) return { ...base, session: undefined, identity: opened };
  const cloud = await readCloud(sources, view, { session: opened.session, signal });
  return { ...base, session: opened.session, identity: { ok: true, cloud } };
}
