import { define, SCALE, STATUS } from "../../contract/define.ts";
import type { Resource } from "../../contract/resource.ts";
import { stored } from "../shared/immutable-fields.ts";
import { ruled } from "../shared/rules.ts";
import {
  CONTROLLER_REVISION_COLUMNS,
  DAEMON_SET_COLUMNS,
  DEPLOYMENT_COLUMNS,
  REPLICA_SET_COLUMNS,
  STATEFUL_SET_COLUMNS,
} from "./columns.ts";
import { REVISION_RULES } from "./rules.ts";
import { daemonSetStrategy, workloadStrategy } from "./strategy.ts";

/** Kinds of group apps. */
export function appsKinds(): Resource[] {
  const group = "apps";
  const all = { group, categories: ["all"], generation: true, strategy: workloadStrategy };
  return [
    define({
      ...all,
      kind: "Deployment",
      plural: "deployments",
      shortNames: ["deploy"],
      subresources: [STATUS, SCALE],
      columns: DEPLOYMENT_COLUMNS,
    }),
    define({
      ...all,
      kind: "ReplicaSet",
      plural: "replicasets",
      shortNames: ["rs"],
      subresources: [STATUS, SCALE],
      columns: REPLICA_SET_COLUMNS,
    }),
    define({
      ...all,
      kind: "StatefulSet",
      plural: "statefulsets",
      shortNames: ["sts"],
      subresources: [STATUS, SCALE],
      columns: STATEFUL_SET_COLUMNS,
    }),
    define({
      ...all,
      kind: "DaemonSet",
      plural: "daemonsets",
      shortNames: ["ds"],
      subresources: [STATUS],
      columns: DAEMON_SET_COLUMNS,
      strategy: daemonSetStrategy,
    }),
    stored({
      group,
      kind: "ControllerRevision",
      plural: "controllerrevisions",
      columns: CONTROLLER_REVISION_COLUMNS,
      strategy: ruled(REVISION_RULES),
    }),
  ];
}
