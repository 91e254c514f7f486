import { expect, test } from "vitest";
import { driverReads } from "./plan.ts";

type Facts = Parameters<typeof driverReads>[0];

const etcd = { id: "1", name: "m0", peerURLs: [], isLearner: false };
const last: Facts = {
  stacks: [],
  leaving: [],
  oldMembers: [],
  masterNodes: [],
  leftovers: [],
  isMigrating: false,
  magnum: { row: "unknown", trustee: { isEnabled: true }, silentNodes: [] },
};
const leftover = { type: "OS::Nova::Server", name: "kube-master-0", id: "1" } as unknown as Facts["leftovers"][number];

test.for<[string, Partial<Facts>, boolean, boolean]>([
  ["the stacks are abandoned", { stacks: [{ id: "s", name: "web" }] }, false, false],
  ["Heat has completed a change", { leaving: [{ id: "s", name: "web" }] }, false, false],
  ["the masters' members are removed", { oldMembers: [etcd] }, false, false],
  ["the masters' Nodes are deleted", { masterNodes: ["m0"] }, false, false],
  ["what is left of Heat's is deleted", { leftovers: [leftover] }, true, false],
  ["the cluster is handed over", { isMigrating: true }, true, false],
  ["the trustee is disabled", {}, true, true],
  [
    "it is seen that the cluster works without the trustee",
    { magnum: { ...last.magnum, trustee: { isEnabled: false } } },
    false,
    false,
  ],
  ["nothing is known of a trustee", { magnum: { ...last.magnum, trustee: undefined } }, true, true],
])("before %s, retire reads of kube-system what the next steps depend on", ([, changes, users, others]) => {
  expect(driverReads({ ...last, ...changes })).toEqual({ users, others });
});
