import { backoff, CausewayError } from "@causeway/foundation";
import { isBadRequest, type SharedFileSystem } from "@causeway/openstack";
import { adapterOf } from "../shares/adapter.ts";
import { LONGEST_CALL, type ShareCall } from "./call.ts";
import { planAccess } from "./plan-access.ts";

type AccessRule = SharedFileSystem.AccessRule;

/** Rules of one StorageClass. */
const MOST_CLIENTS = 100;

/** The rules that let the clients use the share, after Manila has applied them. */
export async function grantAccess(
  call: ShareCall,
  share: SharedFileSystem.Share,
  clients: readonly string[],
): Promise<readonly AccessRule[]> {
  const { storage, protocol, signal, clock } = call;
  if (clients.length > MOST_CLIENTS) {
    throw new CausewayError(
      "CSI_INVALID_ARGUMENT",
      `nfs-shareClient has ${clients.length} clients; ${MOST_CLIENTS} are the most.`,
    );
  }
  const adapter = adapterOf(protocol);
  const end = clock.now() + LONGEST_CALL;
  const pause = backoff({ base: 500, cap: 5_000, factor: 1.3 });
  let rules: readonly AccessRule[] = await storage.manila.accessRules(share.id, {}, { signal });
  for (let waits = 0; clock.now() < end;) {
    const step = planAccess({ adapter, clients, rules });
    switch (step.type) {
      case "done":
        return step.rules;
      case "grant":
        rules = await grant(call, share.id, step.client, rules);
        break;
      case "wait":
        waits += 1;
        await clock.sleep(pause(waits), signal);
        rules = await storage.manila.accessRules(share.id, {}, { signal });
        break;
      case "remove-failed":
        await storage.manila.deny(share.id, step.rule.id, { signal });
        throw new CausewayError(
          "CSI_INTERNAL",
          `Manila could not give ${step.rule.access_to} access to share ${share.id}; the rule is removed.`,
        );
      case "fail":
        throw new CausewayError(step.code, step.message);
    }
  }
  throw new CausewayError(
    "CSI_DEADLINE_EXCEEDED",
    `Manila did not apply the access rules of share ${share.id} in time.`,
  );
}

/**
 * The rules after one was added. Another controller may have granted it a moment ago, which Manila refuses with 400.
 */
async function grant(
  { storage, protocol, signal, log }: ShareCall,
  shareId: string,
  client: string,
  rules: readonly AccessRule[],
): Promise<readonly AccessRule[]> {
  const rule = { access_type: adapterOf(protocol).accessType, access_to: client, access_level: "rw" as const };
  try {
    const made = await storage.manila.allow(shareId, rule, { signal });
    log.info("granted access to a share", { share: shareId, rule: made.id });
    return [...rules, made];
  } catch (error) {
    if (!isBadRequest(error)) throw error;
    const now = await storage.manila.accessRules(shareId, {}, { signal });
    if (now.some(({ access_type, access_to }) => access_type === rule.access_type && access_to === client)) return now;
    throw error;
  }
}
