import { isDeleting, setConditions } from "@causeway/kubernetes";
import { networkName } from "../resources/naming.ts";
import type { Contention } from "./contention.ts";
import { missing, type ClusterContext } from "./model.ts";
import type { ClusterPlan } from "./plan.ts";
import type { ClusterStep } from "./steps.ts";

/** Milliseconds after which it is checked whether the names are free. */
const CHECK_AGAIN = 10 * 60_000;
const lists = ["networks", "subnets"] as const;

/**
 * What a cluster does whose names another object uses: its own network, on which nothing is yet, is deleted; nothing of
 * the other's is touched, also when the cluster is deleted.
 */
export function planContended(
  context: ClusterContext,
  contention: Exclude<Contention, { kind: "none" }>,
  now: number,
): ClusterPlan {
  const { object, crn } = context;
  const deleting = isDeleting(object);
  const [other] = contention.others;
  const where = `Network ${other?.name ?? networkName(crn)} (${other?.id})`;
  if (contention.kind === "open" && !deleting) {
    const message = `${where} was created by another object of this name at the same moment; it is decided which of them may use the names`;
    const wait = { for: message, until: contention.until };
    return { steps: [], status: statusWith(context, "NameContended", message), wait, refresh: lists };
  }
  const steps = contention.own.map(({ id, name }): ClusterStep => ({
    for: "NetworkReady",
    type: "delete-network",
    id,
    name,
  }));
  if (steps.length > 0) return { steps, status: object.status ?? {} };
  if (deleting) {
    const account = `Removed: nothing. Kept: ${where}, which another object of this name created`;
    return {
      steps: [{ for: "NetworkReady", type: "remove-finalizer", account }],
      status: object.status ?? {},
    };
  }
  const message = `${where} was created by another object of this name, in another management cluster, which uses the names. Choose another name or project`;
  return {
    steps: [],
    status: statusWith(context, "NameInUse", message),
    wait: { for: message, until: now + CHECK_AGAIN },
    events: [{ type: "Warning", reason: "NameInUse", message }],
  };
}

function statusWith({ object, now }: ClusterContext, reason: string, message: string): ClusterPlan["status"] {
  const finding = missing("NetworkReady", reason, message);
  const moment = { generation: object.metadata.generation, now };
  const conditions = setConditions(object.status?.conditions, [finding, { ...finding, type: "Ready" }], moment);
  return { ...object.status, conditions };
}
