import { CausewayError } from "@causeway/foundation";
import type { Volume } from "@causeway/openstack";
import type { Clouds } from "../clouds.ts";
import { pageOf } from "./snapshots.ts";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** "ID:cloud": the page after that volume of that cloud. The ID is empty for a cloud's first page. */
export function parseToken(text: string): { readonly after: string; readonly cloud: string } | undefined {
  const at = text.indexOf(":");
  const after = at < 0 ? text : text.slice(0, at);
  if (after !== "" && !UUID.test(after)) return undefined;
  return { after, cloud: at < 0 ? "" : text.slice(at + 1) };
}

/** One page of the volumes of all clouds, from the informers: a list costs the clouds no call while they are synced. */
export async function listVolumes(
  clouds: Clouds,
  query: { readonly token: string; readonly most: number; readonly signal: AbortSignal },
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
    await storage.volumes.start(query.signal);
    const most = query.most === 0 ? 0 : query.most - volumes.length;
    const page = pageOf(storage.volumes.list(), { after, most });
    volumes.push(...page.entries);
    if (page.next !== "") return { volumes, next: `${page.next}:${storage.name}` };
    after = "";
    const following = clouds.all[at + 1];
    if (following && query.most > 0 && volumes.length >= query.most) return { volumes, next: `:${following.name}` };
  }
  return { volumes, next: "" };
}
