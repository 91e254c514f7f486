import type { OpenStackCluster } from "@causeway/api";
import { CausewayError } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { openStackCluster } from "../testing/objects.ts";
import { identityUsersOf } from "./identity.ts";

function cluster(namespace: string, name: string): OpenStackCluster {
  const made = openStackCluster({ identityRef: { type: "ClusterIdentity", name: "shared", cloudName: "c" } });
  return { ...made, metadata: { ...made.metadata, namespace, name } };
}

/** A client that notes each list, and may list `red` only. */
function clientOf(clusters: readonly OpenStackCluster[], isLimited = false) {
  const lists: string[] = [];
  const list = (type: { readonly kind: string }, { namespace }: { readonly namespace?: string } = {}) => {
    lists.push(`${type.kind} ${namespace ?? "*"}`);
    if (isLimited && namespace !== "red") return Promise.reject(new CausewayError("KUBERNETES_FORBIDDEN", "no"));
    const all = type.kind === "OpenStackCluster" ? clusters : [];
    const items = all.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
    return Promise.resolve({ items, resourceVersion: "1" });
  };
  return { lists, client: { list } as unknown as KubernetesClient };
}

test("users of an OpenStackClusterIdentity are read until there are enough to refuse its deletion", async () => {
  const many = clientOf(Array.from({ length: 6 }, (_, at) => cluster("red", `c-${at}`)));
  expect(await identityUsersOf(() => many.client)("shared")).toHaveLength(6);
  expect(many.lists).toEqual(["OpenStackCluster *"]);
  const none = clientOf([]);
  expect(await identityUsersOf(() => none.client)("shared")).toEqual([]);
  expect(none.lists).toHaveLength(4);
});

test("users of an OpenStackClusterIdentity in other namespaces are found by a provider of one namespace, if it may list them", async () => {
  const both = [cluster("red", "a"), cluster("blue", "b")];
  const wide = clientOf(both);
  expect(await identityUsersOf(() => wide.client, "red")("shared")).toEqual([
    "OpenStackCluster red/a",
    "OpenStackCluster blue/b",
  ]);
  const limited = clientOf(both, true);
  expect(await identityUsersOf(() => limited.client, "red")("shared")).toEqual(["OpenStackCluster red/a"]);
  await expect(identityUsersOf(() => limited.client)("shared")).rejects.toThrow("no");
});
