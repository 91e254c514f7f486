import type { OpenStackDeployment, OpenStackDeploymentStatus } from "@causeway/api";
import { timestamp } from "@causeway/kubernetes";
import { isDone, type Judged } from "./components.ts";

type UpgradeStatus = NonNullable<OpenStackDeploymentStatus["upgrade"]>;

/**
 * An upgrade from the release that runs to the one that is wanted. Its progress is what exists: Jobs that ended,
 * workloads that were rolled.
 */
export interface Upgrade {
  readonly from: string;
  readonly to: string;
  status(judged: ReadonlyMap<string, Judged>, now: number): UpgradeStatus;
}

/** The upgrade that is under way; undefined: the release that runs is the wanted one, or none ran yet. */
export function upgradeOf({ spec, status }: OpenStackDeployment): Upgrade | undefined {
  const { release: from, upgrade: before } = status ?? {};
  if (from === undefined || from === spec.release) return undefined;
  return {
    from,
    to: spec.release,
    status: (judged, now) => ({
      from,
      to: spec.release,
      step: UPGRADE_STEPS.find(({ isOver }) => !isOver(judged))?.name ?? "Finishing",
      done: UPGRADE_STEPS.filter(({ isOver }) => isOver(judged)).map(({ name }) => name),
      startedAt: before?.startedAt ?? timestamp(now),
    }),
  };
}

interface UpgradeStep {
  /** Type of its condition. */
  readonly name: string;
  readonly isOver: (judged: ReadonlyMap<string, Judged>) => boolean;
}

const ended =
  (belongs: (judged: Judged) => boolean): UpgradeStep["isOver"] =>
  (judged) =>
    [...judged.values()].filter(belongs).every(isDone);

const isJob = (suffix: string) => (judged: Judged) =>
  judged.component.kind === "Job" && judged.component.name.endsWith(suffix);
const isCompute = ({ component }: Judged) => component.kind === "DaemonSet";

/** The steps of an upgrade in their order. Each is a condition of the deployment while it is upgraded. */
export const UPGRADE_STEPS: readonly UpgradeStep[] = [
  { name: "UpgradeChecked", isOver: ended(isJob("-upgrade-check")) },
  { name: "SchemasExpanded", isOver: ended((each) => isJob("-db-sync")(each) || isJob("-cell-sync")(each)) },
  {
    name: "ControlPlaneUpdated",
    isOver: ended(({ component }) => component.kind === "Deployment" || component.kind === "StatefulSet"),
  },
  { name: "ComputeNodesUpdated", isOver: ended(isCompute) },
  { name: "DataMigrated", isOver: ended(isJob("-online-migrations")) },
  { name: "SchemasContracted", isOver: ended(isJob("-contract")) },
];
