import type { MagnumCluster } from "@causeway/api";
import { enforce, type Answer, type Api, type Call } from "../call/call.ts";
import { accepted } from "./clusters.ts";
import { findCluster, requireHere, targetOf } from "./find-cluster.ts";
import { readCredential } from "../cluster/credentials.ts";
import { invalid, MagnumError } from "../wire/error.ts";
import { giveCredentials } from "./give-credentials.ts";

/**
 * The cluster's credential becomes one of the caller's: a cluster whose creator has left the project gets a new owner
 * this way, also while it is being deleted, which takes a credential that is valid.
 * @throws MagnumError 404 when the cluster was deleted meanwhile, 400, 403, 409
 */
export async function rotateCredential(api: Api, call: Call): Promise<Answer> {
  enforce(api, call, "credential:rotate");
  const cluster = await findCluster(api, call, call.names["cluster"] ?? "");
  enforce(api, call, "credential:rotate", targetOf(cluster));
  requireHere(cluster);
  await requireKeypair(api, call, cluster);
  // Two at once would each revoke what the other one has made.
  await api.inTurn(`credential of ${cluster.spec.uuid}`, () => giveCredentials(api, call, cluster));
  return accepted(cluster);
}

/**
 * Nova keeps key pairs by user, and without its own one a new owner's nodes cannot be made. Those that are being
 * deleted make none. @throws MagnumError 400
 */
async function requireKeypair(api: Api, { caller, signal }: Call, cluster: MagnumCluster): Promise<void> {
  const { keypair, name } = cluster.spec;
  if (api.trustees !== undefined || keypair === undefined || cluster.metadata.deletionTimestamp !== undefined) return;
  const before = await readCredential(api.store.client, cluster, signal);
  if (before?.userId === caller.userId) return;
  try {
    await api.cloud.check(caller.token, { keypair }, signal);
  } catch (error) {
    if (!(error instanceof MagnumError)) throw error;
    throw invalid(
      `The nodes of cluster ${name} are made with key pair ${keypair}, and Nova keeps key pairs by user: create one of this name (openstack keypair create ${keypair}), and request this again.`,
    );
  }
}
