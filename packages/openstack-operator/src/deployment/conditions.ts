import type { OpenStackDeployment, OpenStackDeploymentStatus } from "@causeway/api";
import { setConditions, type Condition, type WantedCondition } from "@causeway/kubernetes";
import { SCHEMA_RELEASES } from "../config/schema.ts";
import { isDone, type ComponentStatus, type Judged } from "./components.ts";
import { ovnConditions, type rebuiltOf } from "./plan-ovn-databases.ts";
import { restoreConditions } from "./plan-restore.ts";
import { stepsOf, type Upgrade } from "./upgrade.ts";

interface From {
  readonly deployment: OpenStackDeployment;
  readonly judged: ReadonlyMap<string, Judged>;
  readonly components: readonly ComponentStatus[];
  readonly upgrade: Upgrade | undefined;
  readonly isUnpinned: boolean;
  readonly restore: OpenStackDeploymentStatus["restore"];
  readonly ovn: ReturnType<typeof rebuiltOf>;
  readonly now: number;
}

/** The conditions of a deployment; those that did not change keep the time of their last transition. */
export function conditionsOf(from: From): Condition[] {
  const { deployment, judged, components, upgrade, restore, now } = from;
  const { metadata, spec, status } = deployment;
  const waiting = [...judged.values()].filter((each) => !isDone(each));
  const first = components.find(({ name }) => name === waiting[0]?.component.name);
  const message = first ? (first.rootCause ?? `${first.name}: ${first.step ?? ""}`) : "every component is ready";
  const degraded = components.filter(({ state }) => state === "Degraded");
  const failed = components.find(({ state }) => state === "Failed");
  const wanted: WantedCondition[] = [
    SCHEMA_RELEASES.includes(spec.release)
      ? { type: "ConfigurationValid", status: "True", reason: "Checked", message: "" }
      : {
          type: "ConfigurationValid",
          status: "Unknown",
          reason: "NoSchema",
          message: `options of release ${spec.release} are not checked: its schema is not part of this program`,
        },
    waiting.length === 0
      ? { type: "Ready", status: "True", reason: "AllReady", message: "" }
      : {
          type: "Ready",
          status: "False",
          reason: failed ? "ComponentFailed" : "Waiting",
          message: message.slice(0, 4_000),
        },
    {
      type: "Degraded",
      status: degraded.length > 0 ? "True" : "False",
      reason: degraded.length > 0 ? "FewerReplicas" : "AllReplicas",
      message: degraded
        .map(({ name, step }) => `${name}: ${step ?? ""}`)
        .join("; ")
        .slice(0, 4_000),
    },
    {
      type: "Progressing",
      status: waiting.length > 0 ? "True" : "False",
      reason: waiting.length > 0 ? (upgrade ? "Upgrading" : "Reconciling") : "Settled",
      message: "",
    },
  ];
  const all = [
    ...wanted,
    ...upgradeConditions(from),
    ...restoreConditions(restore),
    ...ovnConditions(from.ovn, status?.conditions),
  ];
  // Steps of an upgrade that is over remain as its record.
  return setConditions(status?.conditions, all, { generation: metadata.generation, now });
}

function upgradeConditions({ judged, upgrade, isUnpinned, components }: From): WantedCondition[] {
  if (!upgrade) return [];
  const message = `${upgrade.from} to ${upgrade.to}`;
  return stepsOf({ judged, isUnpinned }).map(({ name, isOver, failed }) => {
    if (isOver) return { type: name, status: "True", reason: "Done", message };
    const its = components.find((each) => each.name === failed);
    if (!its) return { type: name, status: "False", reason: "NotYet", message };
    const why = its.rootCause ?? `${its.name}: ${its.step ?? ""}`;
    return { type: name, status: "False", reason: "StepFailed", message: `${message}: ${why}`.slice(0, 4_000) };
  });
}
