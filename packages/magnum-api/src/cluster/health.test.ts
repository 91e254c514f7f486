/** The health that clients see, by what a probe found. */
import { expect, it } from "vitest";
import { NOW, settled } from "../testing/observed.ts";
import type { ClusterProbe } from "./gather.ts";
import { plan } from "./plan.ts";

const created = { created: true, status: "CREATE_COMPLETE", observedGeneration: 2 };
const healthOf = (probe: ClusterProbe | undefined, before: object = {}) => {
  const { status } = plan({ ...settled({ status: { ...created, ...before } }), probe }, NOW);
  return [status.health, status.healthReason, status.kubeletReached];
};
const node = { "n0.Ready": "True" };

it.each<[string, ClusterProbe | undefined, object, readonly unknown[]]>([
  ["without a probe is that of the objects", undefined, {}, ["HEALTHY", { api: "ok", ...node }, undefined]],
  ["is well when the API is", { api: "ok" }, {}, ["HEALTHY", { api: "ok", ...node }, undefined]],
  ["is not well when the API is not", { api: "refused" }, {}, ["UNHEALTHY", { api: "refused", ...node }, undefined]],
  [
    "has no address of the management network",
    { api: "https://web.internal:6443 cannot be reached: connect ECONNREFUSED 10.20.0.7:6443" },
    {},
    ["UNHEALTHY", { api: "(address) cannot be reached: connect ECONNREFUSED (address)", ...node }, undefined],
  ],
  [
    "records that a kubelet was reached",
    { api: "ok", kubelet: { node: "n0", state: "ok" } },
    {},
    ["HEALTHY", { api: "ok", ...node }, true],
  ],
  [
    "names a kubelet that is not reached any more, and keeps that one was",
    { api: "ok", kubelet: { node: "n0", state: "no route to host" } },
    { kubeletReached: true },
    ["UNHEALTHY", { api: "ok", ...node, "n0.kubelet": "no route to host" }, true],
  ],
  [
    "keeps that a kubelet was reached while only the API is probed",
    { api: "ok" },
    { kubeletReached: true },
    ["HEALTHY", { api: "ok", ...node }, true],
  ],
])("health of a cluster %s", (_, probe, before, expected) => {
  expect(healthOf(probe, before)).toEqual(expected);
});

const DETAILS = "etcd cannot be reached: connect ECONNREFUSED 10.20.0.7:2379; logs are in /var/lib/causeway/run";
it.each<[string, string, string]>([
  ["OperatorNeeded", DETAILS, "action by the operator is needed; the conditions of the control plane say why"],
  ["Starting", DETAILS, "the control plane is being started"],
  ["Hibernated", "spec.replicas is 0", "the control plane is stopped; the operator starts it again"],
  ["Parked", "", "the control plane is stopped for a time, and started again by itself"],
  ["Odd", "", "not available"],
])("health of a control plane with reason %s and message %j has no details of management", (reason, message, api) => {
  const observed = settled({ status: { ...created } });
  const { controlPlane } = observed;
  const available = { type: "Available", status: "False", reason, message, lastTransitionTime: "" } as const;
  const status = { ...controlPlane?.status, conditions: [available] };
  const { status: after } = plan(
    { ...observed, controlPlane: { ...controlPlane, status } as typeof controlPlane },
    NOW,
  );
  expect(after.healthReason).toMatchObject({ api });
  expect(JSON.stringify(after)).not.toMatch(/10\.20|var\/lib/);
});
