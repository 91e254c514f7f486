import { createHash } from "node:crypto";
import { shortList } from "@causeway/foundation";
import { isDeleting, setConditions } from "@causeway/kubernetes";
import { CONTENDED, networkName, ownNetworkAnnotation } from "../resources/naming.ts";
import { resourcesOfTheName } from "./claim.ts";
import { missing, type ClusterContext } from "./model.ts";
import type { ClusterPlan } from "./plan.ts";
import type { Possession } from "./possession.ts";
import type { ClusterStep } from "./steps.ts";

/** Milliseconds after which it is checked again whether the names are free. */
const CHECK_AGAIN = 60_000;
const refresh = ["networks"] as const;
/** Milliseconds of a turn: longer than it takes to create a network and to read the networks of the name. */
const TURN = 5_000;

/**
 * What is next where the names are not the object's own; undefined: its network is created. A network that it created
 * next to another object's is deleted, with nothing on it, and nothing of the other is touched.
 */
export function planContended(
  context: ClusterContext,
  possession: Exclude<Possession, { kind: "own" }>,
  now: number,
): ClusterPlan | undefined {
  const { object, crn } = context;
  const status = object.status ?? {};
  if (isDeleting(object)) return { steps: deletionSteps(possession), status };
  if (possession.kind === "unchecked") {
    const { id } = possession.own;
    return { steps: [{ for: "NetworkReady", type: "check-names", id, name: networkName(crn), crn }], status };
  }
  const own = possession.kind === "others" ? possession.own.map(deletionOf) : [];
  if (own.length > 0) return { steps: [{ for: "NetworkReady", type: "record-contention" }, ...own], status };
  const present = resourcesOfTheName(context);
  if (present.length === 0) return laterTurn(object, now);
  const message = `Another object of this name, in another management cluster, has resources in the project: ${shortList(present, 6)}. Choose another name or project; this cluster is created once they are deleted`;
  const finding = missing("NetworkReady", "NameInUse", message);
  const moment = { generation: object.metadata.generation, now };
  const conditions = setConditions(status.conditions, [finding, { ...finding, type: "Ready" }], moment);
  return {
    steps: [],
    status: { ...status, conditions },
    wait: { for: message, until: now + CHECK_AGAIN },
    ...(isUndecided(context, possession) ? { refresh } : {}),
    events: [{ type: "Warning", reason: "NameInUse", message }],
  };
}

/**
 * Two objects that gave way to each other try again in turns, which their UIDs draw: soon in one that is not shared.
 */
function laterTurn(object: ClusterContext["object"], now: number): ClusterPlan | undefined {
  if (object.metadata.annotations?.[ownNetworkAnnotation] !== CONTENDED) return undefined;
  const turn = Math.floor(now / TURN);
  const drawn = createHash("sha256").update(`${object.metadata.uid}/${turn}`).digest();
  if ((drawn[0] ?? 0) % 2 === 0) return undefined;
  const wait = { for: "its turn to create its network, which another object of its name has tried, too" };
  return { steps: [], status: object.status ?? {}, wait: { ...wait, until: (turn + 1) * TURN }, refresh };
}

/** Those that have created networks may all be giving way: none of them has gone further. */
function isUndecided({ cloud }: ClusterContext, possession: Possession): boolean {
  if (possession.kind !== "others") return false;
  const ids = new Set(possession.others.map(({ id }) => id));
  return !cloud.subnets.some((subnet) => ids.has(subnet.network_id));
}

function deletionSteps(possession: Exclude<Possession, { kind: "own" }>): ClusterStep[] {
  const own = possession.kind === "unchecked" ? [possession.own] : possession.kind === "others" ? possession.own : [];
  if (own.length > 0) return own.map(deletionOf);
  const [other] = possession.kind === "others" ? possession.others : [];
  const kept = other && `; kept: network ${other.name} (${other.id}), which another object of this name created`;
  return [{ for: "NetworkReady", type: "remove-finalizer", account: `Removed: nothing${kept ?? ""}` }];
}

function deletionOf({ id, name }: { readonly id: string; readonly name: string }): ClusterStep {
  return { for: "NetworkReady", type: "delete-network", id, name };
}
