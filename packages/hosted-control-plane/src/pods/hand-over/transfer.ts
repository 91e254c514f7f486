import { randomUUID } from "node:crypto";
import { CausewayError, type Clock } from "@causeway/foundation";
import { ConfigMap, isConflict, Namespace, type KubernetesClient } from "@causeway/kubernetes";
import { MIGRATION_NAME, parseMigration, type MigrationStage } from "../migration/record.ts";
import { handOverAnnotation, idAnnotation, managedSelector } from "../tenant.ts";
import {
  planTransfer,
  withoutRequest,
  type ManagementClusters,
  type TransferObserved,
  type TransferRefusal,
} from "./plan-transfer.ts";
import { isOwnedBy, type HandOver } from "./request.ts";

/** The service cluster that runs the pods of both management clusters. */
export interface PodsTransferOptions {
  readonly client: KubernetesClient;
  /** Owners: as managers have them in `PodsSettings.owner`. */
  readonly from: string;
  readonly to: string;
  readonly management: ManagementClusters;
  /** Milliseconds that the two managers may take to see a request. Default: a minute. */
  readonly timeout?: number;
  readonly clock: Clock;
}

/** A control plane, by its object in the management cluster. */
interface ControlPlaneObject {
  readonly metadata: { readonly namespace?: string; readonly name: string };
}

/** Hands control planes as pods over from one management cluster to another. */
export interface PodsTransfer {
  /**
   * Changes nothing.
   * @throws MOVE_OWNER_SAME, MOVE_CONTROL_PLANE_MISSING, MOVE_CONTROL_PLANE_STARTING, MOVE_DATA_MIGRATING,
   * MOVE_OBJECT_DELETED, MOVE_OWNER_FOREIGN, MOVE_TARGET_OCCUPIED, MOVE_UNDER_WAY
   */
  check(controlPlanes: readonly ControlPlaneObject[], signal: AbortSignal): Promise<void>;
  /**
   * Returns when the target has it; safe to repeat. No pod, Secret or Service is changed.
   * @throws as `check`, and MOVE_NOT_ACKNOWLEDGED, MOVE_SETTINGS_DIFFER
   */
  handOver(controlPlane: ControlPlaneObject, signal: AbortSignal): Promise<void>;
}

const fieldManager = "causeway-move";
/** Milliseconds between two reads. */
const AGAIN = 250;

/** Control planes as pods, both of whose managers run. */
export function createPodsTransfer(options: PodsTransferOptions): PodsTransfer {
  const { client, from, to, management, clock, timeout = 60_000 } = options;
  const all = async (signal: AbortSignal): Promise<Namespace[]> =>
    (await client.list(Namespace, { labelSelector: managedSelector, signal })).items;
  return {
    async check(controlPlanes, signal) {
      if (controlPlanes.length === 0) return;
      const namespaces = await all(signal);
      for (const object of controlPlanes) {
        const observed = observedOf({ from, to, management }, idOf(object), namespaces);
        const step = planTransfer({ ...observed, migration: await migrationOf(client, observed, signal) });
        if (step.type === "refuse") throw refused(step);
      }
    },
    async handOver(object, signal) {
      const id = idOf(object);
      const until = clock.now() + timeout;
      const names = observedOf({ from, to, management }, id, await all(signal)).namespaces.map(
        ({ metadata }) => metadata.name,
      );
      for (;;) {
        const found = await Promise.all(
          names.map((name) => client.find(Namespace, { namespace: "", name }, { signal })),
        );
        const namespaces = found.filter((each) => each !== undefined);
        const observed = observedOf({ from, to, management }, id, namespaces);
        const step = planTransfer({ ...observed, migration: await migrationOf(client, observed, signal) });
        if (step.type === "done") return;
        if (step.type === "refuse") {
          // It changed in the meantime: a request that remained would stop its manager for ever.
          if (step.withdraw && !(await write(client, step.withdraw, withoutRequest, signal))) continue;
          throw refused(step);
        }
        if (step.type === "request") {
          const handOver: HandOver = { id: randomUUID(), to };
          await write(client, step.namespace, { [handOverAnnotation]: JSON.stringify(handOver) }, signal);
        }
        if (step.type === "switch") await write(client, step.namespace, step.annotations, signal);
        if (step.type !== "wait") continue;
        if (clock.now() >= until) {
          // A manager that there is not, as of a mistyped owner, would keep the request for ever.
          const asked = namespaces.find((each) => isOwnedBy(each, from, id));
          if (asked && !(await write(client, asked, withoutRequest, signal))) continue;
          throw unanswered(id, step, { from, to });
        }
        await clock.sleep(AGAIN, signal);
      }
    },
  };
}

const idOf = ({ metadata: { namespace = "", name } }: ControlPlaneObject): string => `${namespace}.${name}`;

function observedOf(
  owners: Pick<TransferObserved, "from" | "to" | "management">,
  id: string,
  namespaces: readonly Namespace[],
): TransferObserved {
  return {
    ...owners,
    id,
    namespaces: namespaces.filter(({ metadata }) => metadata.annotations?.[idAnnotation] === id),
  };
}

/** Of the one that is to be handed over. */
async function migrationOf(
  client: KubernetesClient,
  { id, from, namespaces }: TransferObserved,
  signal: AbortSignal,
): Promise<MigrationStage | undefined> {
  const namespace = namespaces.find((each) => isOwnedBy(each, from, id))?.metadata.name;
  if (namespace === undefined) return undefined;
  return parseMigration(await client.find(ConfigMap, { namespace, name: MIGRATION_NAME }, { signal }))?.stage;
}

/** Of the namespace as it was read; false: it changed in the meantime, and is read again. */
async function write(
  client: KubernetesClient,
  { metadata: { name, uid, resourceVersion } }: Namespace,
  annotations: Readonly<Record<string, string | null>>,
  signal: AbortSignal,
): Promise<boolean> {
  const body = { metadata: { uid, resourceVersion, annotations } };
  try {
    await client.patch(Namespace, { namespace: "", name }, { type: "merge", body }, { fieldManager, signal });
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
}

function refused({ code, message, hint }: TransferRefusal): CausewayError {
  return new CausewayError(code, message, { hint });
}

function unanswered(
  id: string,
  { released, awaited }: { readonly released: boolean; readonly awaited: boolean },
  { from, to }: Pick<TransferObserved, "from" | "to">,
): CausewayError {
  const silent = [...(released ? [] : [`source (--owner ${from})`]), ...(awaited ? [] : [`target (--owner ${to})`])];
  return new CausewayError(
    "MOVE_NOT_ACKNOWLEDGED",
    `control plane ${id} is not handed over: causeway run hosted-control-plane of the ${silent.join(" and of the ")} did not respond within the time in the service cluster`,
    {
      hint: "Check that it runs, with this service cluster and this --owner, and repeat the command. The pods run on, and the request was withdrawn: the manager of the source continues with them.",
    },
  );
}
