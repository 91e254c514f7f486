import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "@causeway/foundation";
import { stateFiles, type StateFiles } from "../clusters/state-files.ts";
import { isRecord } from "../json.ts";
import { clustersIn, copyClusters, removeClusters, STATE_FILE } from "../store/index.ts";
import {
  clustersOf,
  NOTHING_PLACED,
  placed,
  readPlacement,
  WORKERS,
  writePlacement,
  type Placement,
} from "./placement.ts";

const CLUSTERS = "clusters";
/** The encryption of a state folder: its configuration, and what is remembered of keys. */
const ENCRYPTION = ["encryption.json", "encryption-keys.json"];

/**
 * Moves logical clusters out of the database of the management cluster into those of workers: a state folder of one process becomes one of several.
 * No process may have the folder open. The placement is written when everything is copied and on disk, and the originals are removed after it; so a
 * process that ends at any point leaves a folder of the old form, or one of the new form whose originals the next start removes.
 */
export function migrate(dir: string, { most, log }: { readonly most: number; readonly log: Log }): void {
  const files = stateFiles(dir);
  const names = files.names(CLUSTERS);
  if (names.length === 0) return;
  const known = readPlacement(files);
  const placement = known ?? copyAll(dir, files, { names, most });
  if (!known) {
    writePlacement(files, placement);
    log.info("logical clusters were moved to the databases of worker processes", { clusters: names.length });
  }
  // Those that were not copied are remains of clusters that were never opened: nothing was placed for them.
  removeClusters(dir, names);
  for (const name of names) files.remove(`${CLUSTERS}/${name}`);
}

function copyAll(
  dir: string,
  files: StateFiles,
  { names, most }: { readonly names: readonly string[]; readonly most: number },
): Placement {
  files.remove(WORKERS);
  if (!existsSync(join(dir, STATE_FILE))) return NOTHING_PLACED;
  const stored = new Set(clustersIn(dir));
  const served = names.filter(
    (name) => stored.has(name) && files.read(`${CLUSTERS}/${name}/cluster.json`) !== undefined,
  );
  let placement = NOTHING_PLACED;
  for (const name of served) placement = placed(placement, name, { most, wanted: classOf(files, name) });
  for (const worker of Object.keys(placement.workers)) {
    const clusters = clustersOf(placement, worker);
    const to = join(dir, WORKERS, worker);
    copyClusters(dir, to, clusters);
    const copies = stateFiles(to);
    for (const name of [...ENCRYPTION, ...files.all().filter((file) => isOf(file, clusters))]) {
      const content = files.read(name);
      if (content !== undefined) copies.write(name, content);
    }
  }
  return placement;
}

function isOf(file: string, clusters: readonly string[]): boolean {
  const [folder, name = ""] = file.split("/");
  return folder === CLUSTERS && clusters.includes(name);
}

function classOf(files: StateFiles, name: string): "shared" | "own" {
  const options: unknown = JSON.parse(files.read(`${CLUSTERS}/${name}/cluster.json`) ?? "{}");
  return isRecord(options) && options["worker"] === "own" ? "own" : "shared";
}
