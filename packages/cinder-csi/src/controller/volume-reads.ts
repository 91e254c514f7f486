import type { Clock } from "@causeway/foundation";
import type { Volume } from "@causeway/openstack";
import type { StorageCloud } from "../clouds.ts";
import { NamedReads } from "./named-reads.ts";

/** Volumes that Cinder returns in one response. */
const PAGE = 1_000;

/**
 * Reads the volumes of a name from Cinder: another controller may have created one a moment ago. A list of all is the
 * informer's, which every call that waits for a volume shares.
 */
export function volumeReads({ cloud, volumes }: StorageCloud, clock: Clock): NamedReads<Volume> {
  return new NamedReads({
    clock,
    async one(name) {
      const found = await cloud.blockStorage.volumes.all({ name });
      for (const volume of found) if (volume.name === name) volumes.observe(volume);
      return found;
    },
    async all() {
      await volumes.refresh();
      return volumes.list();
    },
    pages: () => Math.ceil(volumes.list().length / PAGE),
  });
}
