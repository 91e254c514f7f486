import { enforce, type Answer, type Api, type Call } from "../call/call.ts";
import { accepted } from "./clusters.ts";
import { findCluster, requireHere, targetOf } from "./find-cluster.ts";
import { giveCredentials } from "./give-credentials.ts";

/**
 * The cluster's credential becomes one of the caller's: a cluster whose creator has left the project gets a new owner
 * this way, also while it is being deleted, which takes a credential that is valid.
 * @throws MagnumError 404 when the cluster was deleted meanwhile, 403, 409
 */
export async function rotateCredential(api: Api, call: Call): Promise<Answer> {
  enforce(api, call, "credential:rotate");
  const cluster = await findCluster(api, call, call.names["cluster"] ?? "");
  enforce(api, call, "credential:rotate", targetOf(cluster));
  requireHere(cluster);
  // Two at once would each revoke what the other one has made.
  await api.inTurn(`credential of ${cluster.spec.uuid}`, () => giveCredentials(api, call, cluster));
  return accepted(cluster);
}
