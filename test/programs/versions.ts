/** The resource versions that a client sees, one list after the other. */
import { chmodSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";

/** A list of one object: the server reads it from etcd. */
const LIST = "/api/v1/namespaces/default/configmaps?limit=1";

/** Lists all the time; versions that are older than one that was seen before. */
export function followVersions(client: KubernetesClient) {
  const backwards: string[] = [];
  let [ended, seen, reads, failures] = [false, 0n, 0, 0];
  const work = (async () => {
    while (!ended) {
      try {
        const list = (await client.request("GET", LIST)) as { metadata: { resourceVersion: string } };
        const version = BigInt(list.metadata.resourceVersion);
        if (version < seen) backwards.push(`${version} after ${seen}`);
        else seen = version;
        reads++;
      } catch {
        failures++;
      }
      await systemClock.sleep(25);
    }
  })();
  return {
    async end() {
      ended = true;
      await work;
      return { backwards, reads, failures, last: seen };
    },
  };
}

/** An image of a played node that has Node, as Causeway's has. */
export function nodePrograms() {
  const dir = mkdtempSync(join(tmpdir(), "node-programs-"));
  // Containers have a user of their own.
  chmodSync(dir, 0o755);
  symlinkSync(process.execPath, join(dir, "node"));
  const tag = "with-node";
  return { dir, tag, image: `causeway:${tag}`, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
