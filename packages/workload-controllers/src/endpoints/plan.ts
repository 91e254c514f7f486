import { canonicalJson } from "@causeway/foundation";
import type { Endpoints, Plan, Service } from "@causeway/kubernetes";
import { targetOf } from "../objects/claim.ts";
import { headlessLabel, isHeadless } from "../objects/service-pods.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";
import { subsetsOf, truncated } from "./subsets.ts";

const OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity";
const MANAGED_BY = "endpoints.kubernetes.io/managed-by";
const TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time";

/** One Endpoints object with the name of its Service. */
export function plan({ key, service, pods, endpoints }: Observed): Plan<Step, undefined> {
  const status = undefined;
  if (!service || service.metadata.deletionTimestamp !== undefined) {
    return { steps: endpoints ? [{ type: "delete-endpoints", target: targetOf(endpoints) }] : [], status };
  }
  const all = subsetsOf(service, pods);
  const cut = truncated(all);
  const { [OVER_CAPACITY]: _over, [TRIGGER_TIME]: _time, ...annotations } = endpoints?.metadata.annotations ?? {};
  const wanted: Endpoints = {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: {
      ...endpoints?.metadata,
      name: key.name,
      namespace: key.namespace,
      labels: labelsOf(service),
      annotations: { ...annotations, ...(cut ? { [OVER_CAPACITY]: "truncated" } : {}) },
    },
    subsets: cut ?? all,
  };
  if (!endpoints) return { steps: [{ type: "create-endpoints", endpoints: wanted }], status };
  return { steps: shown(endpoints) === shown(wanted) ? [] : [{ type: "update-endpoints", endpoints: wanted }], status };
}

function labelsOf(service: Service): Record<string, string> {
  const { [headlessLabel]: _headless, ...labels } = service.metadata.labels ?? {};
  return {
    ...labels,
    ...(isHeadless(service) ? { [headlessLabel]: "" } : {}),
    [MANAGED_BY]: "endpoint-controller",
  };
}

function shown({ metadata, subsets }: Endpoints): string {
  return canonicalJson([metadata.labels ?? {}, metadata.annotations?.[OVER_CAPACITY], subsets ?? []]);
}
