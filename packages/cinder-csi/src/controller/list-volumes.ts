import { CausewayError, type Clock } from "@causeway/foundation";
import { isUuid } from "@causeway/csi-openstack";
import type { Volume } from "@causeway/openstack";
import type { Clouds, StorageCloud } from "../clouds.ts";
import { listAfter } from "./plan-list.ts";
import { pageOf } from "./snapshots.ts";

/** "ID:cloud": the page after that volume of that cloud. The ID is empty for a cloud's first page. */
export function parseToken(text: string): { readonly after: string; readonly cloud: string } | undefined {
  const at = text.indexOf(":");
  const after = at < 0 ? text : text.slice(0, at);
  if (after !== "" && !isUuid(after)) return undefined;
  return { after, cloud: at < 0 ? "" : text.slice(at + 1) };
}

/** The volumes of a cloud, listed again where a change by hand may have been missed. */
async function current({ volumes }: StorageCloud, clock: Clock, signal: AbortSignal): Promise<readonly Volume[]> {
  await volumes.start(signal);
  if (clock.now() - volumes.listedAt >= listAfter(volumes.list(), clock.now())) {
    await volumes.refresh(signal, "changes");
  }
  return volumes.list();
}

/**
 * One page of the volumes of all clouds, from the informers: one list a minute at most, and fewer the longer nothing
 * has changed.
 */
export async function listVolumes(
  clouds: Clouds,
  query: { readonly token: string; readonly most: number; readonly signal: AbortSignal; readonly clock: Clock },
): Promise<{ readonly volumes: readonly Volume[]; readonly next: string }> {
  const begun = query.token === "" ? { after: "", cloud: clouds.all[0]?.name ?? "" } : parseToken(query.token);
  const index = begun === undefined ? -1 : clouds.all.findIndex(({ name }) => name === begun.cloud);
  if (begun === undefined || index < 0) {
    throw new CausewayError("CSI_ABORTED", "The token of the next page is not valid; begin with the first page.");
  }
  const volumes: Volume[] = [];
  let { after } = begun;
  for (const [at, storage] of clouds.all.entries()) {
    if (at < index) continue;
    const known = await current(storage, query.clock, query.signal);
    const most = query.most === 0 ? 0 : query.most - volumes.length;
    const page = pageOf(known, { after, most });
    volumes.push(...page.entries);
    if (page.next !== "") return { volumes, next: `${page.next}:${storage.name}` };
    after = "";
    const following = clouds.all[at + 1];
    if (following && query.most > 0 && volumes.length >= query.most) return { volumes, next: `:${following.name}` };
  }
  return { volumes, next: "" };
}
