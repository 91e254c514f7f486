import { CausewayError } from "@causeway/foundation";
import { CLAIM_NAME, CLAIM_NAMESPACE, isUuid } from "@causeway/csi-openstack";
import { ANNOTATION_AFFINITY, ANNOTATION_ANTI_AFFINITY, ANNOTATION_GROUP } from "../names.ts";
import { clientsIn } from "../shares/nfs.ts";
import type { ShareCall } from "./call.ts";
import type { Placement } from "./create-share.ts";

/** The annotations of a PersistentVolumeClaim (--pvc-annotations). */
export type ClaimAnnotations = (namespace: string, name: string) => Promise<Readonly<Record<string, string>>>;

/** Shares in one annotation. */
const MOST = 50;

/**
 * Where the annotations of the claim place the share: next to or apart from others, or in a group. Throws
 * CSI_INVALID_ARGUMENT.
 */
export async function placementOf(
  call: ShareCall,
  parameters: Readonly<Record<string, string>>,
  read: ClaimAnnotations | undefined,
): Promise<Placement> {
  const [namespace, name] = [parameters[CLAIM_NAMESPACE], parameters[CLAIM_NAME]];
  if (!read || namespace === undefined || name === undefined) {
    return { sameHost: "", differentHost: "", groupId: undefined };
  }
  const annotations = await read(namespace, name);
  return {
    sameHost: await idsOf(call, annotations[ANNOTATION_AFFINITY] ?? ""),
    differentHost: await idsOf(call, annotations[ANNOTATION_ANTI_AFFINITY] ?? ""),
    groupId: annotations[ANNOTATION_GROUP],
  };
}

/** The IDs of shares that a list has by their IDs or names. */
async function idsOf(call: ShareCall, list: string): Promise<string> {
  const wanted = clientsIn(list);
  if (wanted.length > MOST) {
    throw new CausewayError(
      "CSI_INVALID_ARGUMENT",
      `An annotation names ${wanted.length} shares; ${MOST} are the most.`,
    );
  }
  const ids: string[] = [];
  for (const each of wanted) ids.push(await idOf(call, each));
  return ids.join(",");
}

async function idOf({ storage, signal }: ShareCall, text: string): Promise<string> {
  const { shares } = storage.manila;
  const byId = isUuid(text) ? await shares.find(text, { signal }) : undefined;
  if (byId) return byId.id;
  const found = (await shares.all({ name: text }, { signal })).filter(({ name }) => name === text);
  const [only, second] = found;
  if (only && !second) return only.id;
  const why = only ? `${found.length} shares have the name` : "no share has this name or ID";
  throw new CausewayError("CSI_INVALID_ARGUMENT", `The claim's annotations name share ${text}: ${why}.`);
}
