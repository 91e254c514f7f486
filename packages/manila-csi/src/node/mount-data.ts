import { CausewayError } from "@causeway/foundation";
import type { SharedFileSystem } from "@causeway/openstack";
import type { VolumeContext } from "../parameters.ts";
import { protocolOf, type ShareProtocol } from "../protocol.ts";
import type { RuntimeConfig } from "../runtime-config.ts";
import { adapterOf } from "../shares/adapter.ts";
import type { ShareCloud } from "../shares/connections.ts";
import { clientsIn } from "../shares/nfs.ts";

/** What the proxied driver receives in place of the request's volume context and secrets. */
export interface MountData {
  readonly context: Record<string, string>;
  readonly stageSecret: Record<string, string>;
}

/** The share to mount, by its volume context. */
export interface MountRequest {
  readonly volumeId: string;
  readonly options: VolumeContext;
  readonly protocol: ShareProtocol;
  readonly runtime: RuntimeConfig;
  readonly signal: AbortSignal;
}

/** Reads the share, its access rules and its export locations. */
export async function mountData({ manila }: ShareCloud, request: MountRequest): Promise<MountData> {
  const { options, protocol, runtime, signal, volumeId } = request;
  const share = await shareOf(manila, request);
  if (protocolOf(share.share_proto) !== protocol) {
    throw new CausewayError(
      "CSI_INVALID_ARGUMENT",
      `Share ${share.id} has protocol ${share.share_proto}; this driver serves ${protocol}.`,
    );
  }
  if (share.status.startsWith("creating"))
    throw new CausewayError("CSI_UNAVAILABLE", `Share ${share.id} is not yet available.`);
  if (share.status !== "available") {
    throw new CausewayError(
      "CSI_FAILED_PRECONDITION",
      `Share ${share.id} has status ${share.status} instead of available.`,
    );
  }
  const adapter = adapterOf(protocol);
  const [rules, locations] = await Promise.all([
    adapter.needsRule ? manila.accessRules(share.id, {}, { signal }) : [],
    manila.exportLocations(share.id, { signal }),
  ]);
  const rule = adapter.needsRule ? grantedRule(rules, { options, volumeId }) : undefined;
  if (rule && !adapter.isComplete(rule)) {
    throw new CausewayError("CSI_UNAVAILABLE", `Access rule ${rule.id} of share ${share.id} has no key yet.`);
  }
  return { context: adapter.context({ share, locations, options, runtime }), stageSecret: adapter.stageSecret(rule) };
}

async function shareOf(
  manila: ShareCloud["manila"],
  { options, signal }: MountRequest,
): Promise<SharedFileSystem.Share> {
  const { shareID: id, shareName: name } = options;
  if (id !== undefined) {
    const share = await manila.shares.find(id, { signal });
    if (share) return share;
    throw new CausewayError("CSI_NOT_FOUND", `Share ${id} does not exist.`);
  }
  const all = (await manila.shares.all({ name: name ?? "" }, { signal })).filter((share) => share.name === name);
  const [share, second] = all;
  if (!share) throw new CausewayError("CSI_NOT_FOUND", `No share is named ${name}.`);
  if (!second) return share;
  throw new CausewayError("CSI_FAILED_PRECONDITION", `${all.length} shares are named ${name}.`, {
    hint: "Set shareID in the PersistentVolume in place of shareName.",
  });
}

/** The first of the volume's rules that the share has. */
function grantedRule(
  rules: readonly SharedFileSystem.AccessRule[],
  { options, volumeId }: { readonly options: VolumeContext; readonly volumeId: string },
): SharedFileSystem.AccessRule {
  const wanted = clientsIn(options.shareAccessIDs ?? options.shareAccessID ?? "");
  const found = wanted.map((id) => rules.find((rule) => rule.id === id)).find((rule) => rule !== undefined);
  if (found) return found;
  const names = wanted.join(", ") || "no access rule";
  throw new CausewayError(
    "CSI_FAILED_PRECONDITION",
    `Volume ${volumeId} names ${names}, which the share does not have.`,
    { hint: "Grant access to the share, and set shareAccessIDs of the PersistentVolume to the rule's ID." },
  );
}
