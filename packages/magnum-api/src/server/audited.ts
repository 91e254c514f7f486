import type { MagnumCluster } from "@causeway/api";
import type { AuditAction } from "../audit-event.ts";
import { MagnumError } from "../wire/error.ts";
import { readUuid } from "../wire/fields.ts";
import { isAdmin, type Answer, type Api, type Call } from "../call/call.ts";

/** What a request would do to a cluster; undefined: nothing. */
export function auditedAction(path: string, method: string): AuditAction | undefined {
  if (method === "GET" || method === "HEAD") return undefined;
  if (path === "clusters") return "create";
  if (path === "clusters/:cluster" && method === "DELETE") return "delete";
  const isOfCluster = ["clusters/:cluster", "certificates/:cluster", "credentials/:cluster"];
  return isOfCluster.some((prefix) => path === prefix || path.startsWith(`${prefix}/`)) ? "update" : undefined;
}

/** Does what a request asks for, and records that it was accepted or refused. */
export async function audited(
  api: Api,
  call: Call,
  action: AuditAction | undefined,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const { audit } = api;
  if (audit === undefined || action === undefined) return work();
  const { caller } = call;
  // Looked up before, since a deletion may leave nothing to find.
  const before = known(api, call, call.names["cluster"]);
  try {
    const answer = await work();
    const made = (answer.body as { readonly uuid?: unknown } | undefined)?.uuid;
    const ident = action === "create" ? String(made) : call.names["cluster"];
    audit.record({ action, outcome: "pending", cluster: known(api, call, ident) ?? before, caller });
    return answer;
  } catch (error) {
    const refusedWith = error instanceof MagnumError ? error.status : 500;
    audit.record({ action, outcome: "failure", cluster: before, caller, refusedWith });
    throw error;
  }
}

/** The cluster that a caller names and may see, as it is known here. */
function known(api: Api, call: Call, ident: string | undefined): MagnumCluster | undefined {
  if (ident === undefined) return undefined;
  const seen = api.store.clustersOf(isAdmin(api, call) ? undefined : call.caller.projectId);
  const uuid = readUuid(ident);
  return seen.find(({ spec }) => (uuid === undefined ? spec.name === ident : spec.uuid === uuid));
}
