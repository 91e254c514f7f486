import type { Service } from "@causeway/kubernetes";
import type { ControlPlaneProblem, ControlPlaneState, StorageState } from "../runtime.ts";
import { isBehindGateway } from "./gateway.ts";
import { migrationState } from "./migration/served.ts";
import { endpointOf } from "./objects/network.ts";
import type { Endpoint, Observed } from "./observed.ts";
import { isPooled } from "./options.ts";
import { joinedAt } from "./plan-join.ts";
import { replicasOf, servedVersion, workload } from "./rollout.ts";
import { budgetOf } from "./sizes.ts";
import { OPENED_BELOW, type StorageRecord } from "./storage/records.ts";

/** What is reported of a control plane with this problem, or none. */
export function stateOf(
  observed: Observed,
  problem: ControlPlaneProblem | undefined,
  endpoint?: Endpoint,
): ControlPlaneState {
  const { spec, live, pods, settings } = observed;
  const service = live.get("Service/kube-apiserver") as Service | undefined;
  const api = workload(live.get("Deployment/kube-apiserver"));
  const joined = joinedAt(observed) !== undefined || spec.initialized === true;
  const ready = joined && (api?.status?.readyReplicas ?? 0) > 0;
  return {
    ready,
    ...(problem === undefined ? {} : { problem, ...(problem.actor === "none" ? { starting: true as const } : {}) }),
    runtime: "Pods",
    endpoint: endpoint ?? endpointOf(spec, service, settings) ?? spec.endpoint,
    ...(isBehindGateway(spec) && settings.gateway?.address !== undefined ? { address: settings.gateway.address } : {}),
    version: servedVersion(pods, "kube-apiserver") ?? spec.version,
    names: spec.names,
    ...storageOf(observed),
    authentication: spec.authentication,
    requested: observed.requested,
    ...migrationState(observed),
    ...(observed.clocks === undefined ? {} : { clocks: observed.clocks }),
    replicas: replicasOf(api),
    ...(problem === undefined ? {} : { message: `${problem.message} (${problem.code})` }),
  };
}

/** In the shared etcd its budget is the limit. */
function storageOf({ spec, pool, namespaceName }: Observed): Pick<ControlPlaneState, "limits" | "storage"> {
  if (!isPooled(spec)) return { limits: spec.limits };
  const record = pool?.storage?.[namespaceName];
  const storage = record && storageState(record);
  return { limits: { ...spec.limits, bytes: budgetOf(spec) }, ...(storage === undefined ? {} : { storage }) };
}

function storageState({ bytes, budget, stage, opensAt, lacksSpace }: StorageRecord): StorageState {
  if (lacksSpace === true) return { bytes, budget, stage, lacksSpace };
  const opens = stage === "Sealed" && opensAt !== undefined && bytes <= budget * OPENED_BELOW ? { opensAt } : {};
  return { bytes, budget, stage, ...opens };
}
