import { MagnumCluster } from "@causeway/api";
import { isNotFound } from "@causeway/kubernetes";
import { migratingAnnotation, renderMigrating, type MigrationState } from "@causeway/magnum-api";
import type { MigrationRecord } from "../record/record.ts";
import type { AnyPhase, Tools } from "../phase.ts";

const OFTEN = 60_000;

/** Shows in the Magnum API that a phase runs, and how it ended. */
export interface Progress {
  /** Once a minute while the phase makes steps or waits, and when it waits for something else. */
  running(waitsFor?: string): Promise<void>;
  ended(state: "Done" | "Failed"): Promise<void>;
}

/**
 * Shows the Magnum API how far a phase is: on the MagnumCluster, from the phase that makes it until it is handed over.
 */
export function createProgress(
  { management, clock }: Pick<Tools, "management" | "clock">,
  { namespace, name }: MigrationRecord,
  phase: AnyPhase,
  signal: AbortSignal,
): Progress {
  let shown: number | undefined;
  let waited: string | undefined;
  const show = async (state: MigrationState["state"], waitsFor?: string): Promise<void> => {
    const found = await management.find(MagnumCluster, { namespace, name }, { signal });
    if (found?.metadata.annotations?.[migratingAnnotation] === undefined) return;
    const value = renderMigrating({
      phase: phase.name,
      state,
      at: new Date(clock.now()).toISOString(),
      ...(waitsFor === undefined ? {} : { waitsFor }),
    });
    const body = { metadata: { annotations: { [migratingAnnotation]: value } } };
    await management
      .patch(MagnumCluster, { namespace, name }, { type: "merge", body }, { signal })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    shown = clock.now();
  };
  return {
    async running(waitsFor) {
      if (shown !== undefined && clock.now() - shown <= OFTEN && waitsFor === waited) return;
      await show("Running", waitsFor);
      waited = waitsFor;
    },
    ended: (state) => show(state),
  };
}
