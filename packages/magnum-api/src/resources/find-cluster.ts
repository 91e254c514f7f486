import type { MagnumCluster } from "@causeway/api";
import { isHeats } from "../cluster/heat.ts";
import { readMigrating } from "../cluster/migrating.ts";
import { isAdmin, type Api, type Call } from "../call/call.ts";
import { conflict, invalid, MagnumError, notFound } from "../wire/error.ts";
import { readUuid } from "../wire/fields.ts";
import { shownStatus } from "./cluster-view.ts";

/** Which of several clusters with one name an administrator means. */
export interface NamedCluster {
  /** That of the caller's own project comes first. */
  readonly prefersOwn: boolean;
}

/**
 * The cluster by its id or name, as it is now; an administrator sees those of all projects. @throws MagnumError
 * 404, 409
 */
export async function findCluster(
  api: Api,
  call: Call,
  ident: string,
  { prefersOwn }: NamedCluster = { prefersOwn: false },
): Promise<MagnumCluster> {
  const project = isAdmin(api, call) ? undefined : call.caller.projectId;
  let uuid = readUuid(ident);
  if (uuid === undefined) {
    const isNamed = ({ spec }: MagnumCluster): boolean => spec.name === ident;
    let named = api.store.clustersOf(project).filter(isNamed);
    // Another process may have created it just now, for the same client.
    if (named.length === 0 && isName(ident))
      named = (await api.store.freshClusters(call.caller.projectId)).filter(isNamed);
    const own = prefersOwn ? named.filter(({ spec }) => spec.projectID === call.caller.projectId) : [];
    if (own.length > 0) named = own;
    if (named.length > 1)
      throw conflict("Multiple clusters exist with same name. Please use the cluster uuid instead.");
    uuid = named[0]?.spec.uuid;
  }
  const found = uuid === undefined ? undefined : await api.store.cluster(uuid, project, call.signal);
  if (found === undefined) throw notFound("Cluster", ident.slice(0, 300));
  return found;
}

/** Of a cluster or template that could exist: what could not costs no read. */
export const isName = (ident: string): boolean => ident !== "" && ident.length <= 255;

/** What policy rules compare the caller with, such as `project_id:%(project_id)s`. */
export const targetOf = ({ spec }: MagnumCluster) => ({ project_id: spec.projectID, user_id: spec.userID });

const heats = ({ spec }: MagnumCluster): MagnumError =>
  conflict(
    `Cluster ${spec.name} is one of Magnum's Heat driver and only shown here: change it by its own Magnum, or migrate it with "causeway migrate magnum freeze ${spec.name}" and the phases after it.`,
  );

/** What needs the cluster's own keys or credentials. @throws MagnumError 409 for a cluster that only Heat has */
export function requireHere(cluster: MagnumCluster): void {
  const migrating = readMigrating(cluster);
  if (migrating !== undefined && isHeats(migrating)) throw heats(cluster);
}

/** @throws MagnumError 409 */
export function requireNotMigrating(cluster: MagnumCluster): void {
  const migrating = readMigrating(cluster);
  if (migrating?.phase === "discover") throw heats(cluster);
  if (migrating)
    throw conflict(
      `Cluster ${cluster.spec.name} is being migrated from Heat (phase ${migrating.phase}); changes are refused until that is complete.`,
    );
}

/** Refuses a change that the cluster's state does not allow. @throws MagnumError 400, 409 */
export function requireIdle(cluster: MagnumCluster, alsoAllowed: readonly string[] = [], what = "Updating"): void {
  requireNotMigrating(cluster);
  const { status } = shownStatus(cluster);
  if (status.endsWith("_COMPLETE") || alsoAllowed.includes(status)) return;
  if (status.endsWith("_IN_PROGRESS"))
    throw invalid(`Cluster ${cluster.spec.name} already has an operation in progress.`);
  // Upstream's text; the reason is what its user has to act on.
  throw invalid(
    `${what} a cluster when status is "${status}" is not supported. The work on it continues: it is complete when the cause that status_reason names is gone.`,
  );
}

/** 404 as 400: for a body that names what is not there. */
export async function asBadRequest<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof MagnumError && error.status === 404) throw invalid(error.message);
    throw error;
  }
}
