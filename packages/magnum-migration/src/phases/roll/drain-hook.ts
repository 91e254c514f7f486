import { annotations, Machine } from "@causeway/api";
import { getCondition, isNotFound, type Condition } from "@causeway/kubernetes";
import type { Tools } from "../../phase.ts";

/** A hook of Cluster API: a Machine that is being deleted is not drained while it has one. */
const drainHook = `${annotations.preDrainHookPrefix}/magnum-migration`;

/** A Machine of a server that Heat made. Held and deleting: it is next. Deleting only: its Node is being drained. */
export interface AdoptedMachine {
  readonly name: string;
  readonly isHeld: boolean;
  readonly isDeleting: boolean;
  /** What its deletion waits for, on one line. */
  readonly progress: string;
}

const MOST = 300;

/** How far its replacement is. */
export const adoptedMachineOf = ({ metadata, status }: Machine): AdoptedMachine => ({
  name: metadata.name,
  isHeld: metadata.annotations?.[drainHook] !== undefined,
  isDeleting: metadata.deletionTimestamp !== undefined,
  progress: (getCondition((status?.conditions ?? []) as Condition[], "Deleting")?.message ?? "")
    .replaceAll(/\s+/g, " ")
    .slice(0, MOST),
});

/** Holds the drain of a Machine that will be deleted, or lets it begin. Nothing where there is no such Machine. */
export async function setHeld(
  { management }: Pick<Tools, "management">,
  key: { readonly namespace: string; readonly name: string },
  isHeld: boolean,
  signal: AbortSignal,
): Promise<void> {
  const body = { metadata: { annotations: { [drainHook]: isHeld ? "roll" : null } } };
  try {
    await management.patch(Machine, key, { type: "merge", body }, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
