import { CausewayError } from "@causeway/foundation";
import { isUuid } from "@causeway/csi-openstack";
import type { StorageCloud } from "../clouds.ts";

/** Volumes in one annotation. Each name that is not an ID costs a call. */
const MOST = 50;

/** IDs of the volumes that an annotation lists by ID or name. Throws CSI_INVALID_ARGUMENT. */
export async function resolveVolumes(
  storage: StorageCloud,
  text: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const wanted = text
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
  if (wanted.length > MOST)
    throw new CausewayError("CSI_INVALID_ARGUMENT", `An affinity annotation lists more than ${MOST} volumes.`);
  const ids: string[] = [];
  for (const each of wanted) ids.push(await resolve(storage, each, signal));
  return ids;
}

async function resolve(storage: StorageCloud, text: string, signal: AbortSignal): Promise<string> {
  const { volumes } = storage.cloud.blockStorage;
  if (isUuid(text)) {
    const id = text.toLowerCase();
    if (storage.volumes.get(id) ?? (await volumes.find(id, { signal }))) return id;
  }
  const found = (await volumes.all({ name: text }, { signal })).filter(({ name }) => name === text);
  if (found.length === 1 && found[0]) return found[0].id;
  const why = found.length === 0 ? "does not exist" : "is the name of several volumes";
  throw new CausewayError("CSI_INVALID_ARGUMENT", `The affinity annotation lists volume "${text}", which ${why}.`);
}
