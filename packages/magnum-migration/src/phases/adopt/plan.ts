import { imageNotes, nodeImageText, type GroupImage } from "../../inventory/images.ts";
import type { MigrationRecord } from "../../record/record.ts";
import type { PhasePlan, Step } from "../../phase.ts";
import { workloadText, type FoundWorkload, type Workload } from "../../workloads/workloads.ts";

/** An object that is to be there, by kind and name. */
export interface WantedObject {
  readonly kind: string;
  readonly name: string;
  readonly isThere: boolean;
}

/** A Machine that represents a server of Heat's, and how far Cluster API recognises it. */
export interface AdoptedMachine {
  readonly name: string;
  readonly serverId: string;
  /** The Node that the Machine was found to be. */
  readonly node: string | undefined;
  readonly isProvisioned: boolean;
  readonly problem: string | undefined;
}

/** What is read for `planAdopt`. */
export interface AdoptFacts {
  /** Those of `cloudWriters` that the cluster has: they stop before Causeway's controllers begin. */
  readonly writers: readonly FoundWorkload[];
  /** Of new nodes, which roll makes; none: everything is written. */
  readonly images: readonly GroupImage[];
  /** Whether the MagnumCluster has the image that was named for new nodes. */
  readonly hasImage: boolean;
  readonly wanted: readonly WantedObject[];
  readonly machines: readonly AdoptedMachine[];
  /** Servers of the inventory's workers that Nova has, ACTIVE. */
  readonly servers: readonly string[];
}

/** Creates one object; `index` is its place among the wanted ones, which the next read computes again. */
export type AdoptStep = Step &
  (
    | { readonly type: "stop-workload"; readonly workload: Workload }
    | { readonly type: "set-image" }
    | { readonly type: "create"; readonly index: number }
  );

/** The objects in their order; then every worker is a Machine with its Node, and no server was made or deleted. */
export function planAdopt(
  { writers, images, hasImage, wanted, machines, servers }: AdoptFacts,
  { inventory, nodeImage }: MigrationRecord,
): PhasePlan<AdoptStep> {
  const stop = writers
    .filter(({ state }) => state === "running")
    .map((workload): AdoptStep => ({
      type: "stop-workload",
      workload,
      what: `stop ${workloadText(workload)}: Causeway's controllers write to the cloud from here on`,
    }));
  const steps: AdoptStep[] = [
    ...(hasImage ? [] : [{ type: "set-image", what: `have new nodes made of ${nodeImageText(nodeImage)}` } as const]),
    ...wanted.flatMap(({ kind, name, isThere }, index): AdoptStep[] =>
      isThere ? [] : [{ type: "create", index, what: `create ${kind} ${name}` }],
    ),
  ];
  const notes = imageNotes(images);
  // Neither may write what the other does.
  if (stop.length > 0) return { steps: [...stop, ...steps], batch: stop.length, notes, proof: [] };
  const stopping = writers.find(({ state }) => state === "stopping");
  if (stopping) return { steps: [], wait: `the pods of ${workloadText(stopping)} to end`, notes, proof: [] };
  if (steps.length > 0) return { steps, batch: steps.length, notes, proof: [] };
  const workers = inventory.groups.flatMap((group) => group.machines);
  const gone = workers.find(({ serverId }) => !servers.includes(serverId));
  if (gone)
    return {
      steps: [],
      refused: {
        code: "MIGRATE_SERVER_GONE",
        message: `Server ${gone.name} (${gone.serverId}) is not ACTIVE any more; it is not replaced`,
        hint: "Start the server, or run rollback.",
      },
      proof: [],
    };
  const open = machines.find(({ node, isProvisioned }) => node === undefined || !isProvisioned);
  if (open)
    return {
      steps: [],
      wait: `Machine ${open.name} to be adopted: ${open.problem ?? "its Node was not found yet"}`,
      proof: [],
    };
  return {
    steps: [],
    proof: [
      `${machines.length} Machines have their Nodes: ${machines.map(({ node }) => node).join(", ")}`,
      `${servers.length} servers of workers are ACTIVE, with their ids of before`,
      ...inventory.groups.map((group) => `node group ${group.name}: ${group.machines.length} adopted`),
      ...writers.map((workload) => `${workloadText(workload)} has no pods; Causeway's controllers do what it did`),
      `new nodes will be made of ${nodeImageText(nodeImage)}`,
    ],
  };
}
