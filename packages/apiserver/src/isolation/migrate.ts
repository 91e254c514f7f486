import { join } from "node:path";
import type { Log } from "@causeway/foundation";
import { stateFiles, type StateFiles } from "../store/state-files.ts";
import { isRecord } from "../json/json.ts";
import { SplitSource } from "../store/index.ts";
import type { Limits } from "./messages.ts";
import {
  clustersOf,
  NOTHING_PLACED,
  placed,
  readPlacement,
  requestOf,
  WORKERS,
  writePlacement,
  type Placement,
  type PlacementRequest,
} from "./placement.ts";

const CLUSTERS = "clusters";
/** The encryption of a state folder: its configuration, and what is remembered of keys. */
const ENCRYPTION = ["encryption.json", "encryption-keys.json", "encryption-kms.json"];

/**
 * Moves logical clusters out of the database of the management cluster into those of workers: a state folder of one
 * process becomes one of several. It holds the lock of the database from the beginning to the end, so no other process
 * has the folder open. The placement is written when everything is copied and on disk, and the originals are removed
 * after it; so a process that ends at any point leaves a folder of the old form, or one of the new form whose originals
 * the next start removes. Throws STATE_LOCKED.
 */
export function migrate(dir: string, to: MigrateOptions): void {
  const files = stateFiles(dir);
  if (files.names(CLUSTERS).length === 0) return;
  const source = new SplitSource(dir);
  try {
    convert(dir, files, { ...to, source });
  } finally {
    source.close();
  }
}

/** The workers that the clusters are for. */
export interface MigrateOptions {
  readonly initial: number;
  readonly largest?: number;
  readonly capacity?: number | undefined;
  readonly limits: Pick<Limits, "heap" | "resident">;
  readonly log: Log;
}

interface Conversion extends MigrateOptions {
  readonly source: SplitSource;
}

function convert(dir: string, files: StateFiles, conversion: Conversion): void {
  // Another process may have converted it until the lock was free.
  const names = files.names(CLUSTERS);
  if (names.length === 0) return;
  const known = readPlacement(files);
  const placement = known ?? copyAll(dir, files, { ...conversion, names });
  if (!known) {
    writePlacement(files, placement);
    conversion.log.info("logical clusters were moved to the databases of worker processes", { clusters: names.length });
  }
  // Those that were not copied are remains of clusters that were never opened: nothing was placed for them.
  conversion.source.remove(names);
  for (const name of names) files.remove(`${CLUSTERS}/${name}`);
}

function copyAll(
  dir: string,
  files: StateFiles,
  { source, names, initial, largest = Infinity, ...room }: Conversion & { readonly names: readonly string[] },
): Placement {
  files.remove(WORKERS);
  const stored = new Set(source.clusters);
  const served = names.filter(
    (name) => stored.has(name) && files.read(`${CLUSTERS}/${name}/cluster.json`) !== undefined,
  );
  let placement = NOTHING_PLACED;
  for (const name of served) placement = placed(placement, name, requestIn(files, name, room), { initial, largest });
  for (const worker of Object.keys(placement.workers)) {
    const clusters = clustersOf(placement, worker);
    const to = join(dir, WORKERS, worker);
    source.copy(to, clusters);
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

function requestIn(
  files: StateFiles,
  name: string,
  { limits, capacity }: Pick<MigrateOptions, "limits" | "capacity">,
): PlacementRequest {
  const options: unknown = JSON.parse(files.read(`${CLUSTERS}/${name}/cluster.json`) ?? "{}");
  if (!isRecord(options)) return requestOf({}, limits, capacity);
  const worker = options["worker"] === "own" ? "own" : "shared";
  return requestOf({ worker, controllers: options["controllers"] === true }, limits, capacity);
}
