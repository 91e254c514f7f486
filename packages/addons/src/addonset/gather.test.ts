import type { AddonSet, Cluster } from "@causeway/api";
import type { KubeObject, ResourceType } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import type { Session } from "../live/session.ts";
import { gather, type GatherFrom } from "./gather.ts";

const type = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };
const resource = type as ResourceType<KubeObject>;
const id = { apiVersion: "v1", kind: "ConfigMap", namespace: "n", name: "old" };
const key = { namespace: "n", name: "base" };

/** A set with an add-on that was removed; `list` is what is known of the objects of its kind. */
async function removedOf(list: readonly KubeObject[] | undefined) {
  const set = {
    metadata: key,
    spec: { clusterName: "blue", addons: [] },
    status: { addons: [{ name: "gone", state: "Applied", objects: [id] }] },
  } as unknown as AddonSet;
  const informer = list && { get: ({ name }: { name: string }) => list.find(({ metadata }) => metadata.name === name) };
  const session = { typeOf: async () => resource, metadata: async () => informer } as unknown as Session;
  const none = { get: () => undefined, list: () => [] };
  const from = {
    sets: { get: () => set, list: () => [set] },
    clusters: { get: () => ({ metadata: { name: "blue", namespace: "n" }, spec: {} }) as unknown as Cluster },
    controlPlanes: none,
    argo: { applications: none, namespaces: none, kubeconfigs: none, clusterSecrets: none },
    sessionOf: () => session,
    declarations: { of: async () => [] },
  } as unknown as GatherFrom;
  const observed = await gather(from, key, new AbortController().signal);
  return observed?.removed;
}

const live = (labels: Record<string, string>, more: object = {}): KubeObject => ({
  ...id,
  metadata: { namespace: "n", name: "old", labels, ...more },
});
const own = { "addons.causeway.dev/set": "base", "addons.causeway.dev/addon": "gone" };

test.each([
  ["its own is", [live(own)], [{ id, resource }]],
  ["one that is not read yet may be", undefined, [{ id, resource, isUnread: true }]],
  ["one that is gone is not", [], []],
  ["one that is being deleted is not", [live(own, { deletionTimestamp: "2026-01-01T00:00:00Z" })], []],
  ["one that another set has now is not", [live({ ...own, "addons.causeway.dev/set": "other" })], []],
])("of objects that a set no longer declares, %s to be deleted", async (_title, list, stale) => {
  expect(await removedOf(list)).toEqual([{ name: "gone", stale }]);
});
