import { annotations, type Cluster } from "@causeway/api";
import { expect, test } from "vitest";
import { cloudNameOf, hasIngresses, hasVolumes } from "./member.ts";

const cluster = (volumes?: string): Cluster => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { name: "web", ...(volumes === undefined ? {} : { annotations: { [annotations.volumes]: volumes } }) },
  spec: {},
});

test.for<[string, boolean, string | undefined, boolean]>([
  ["a cluster has volumes by default", true, undefined, true],
  ["a cluster that asks for no volumes has none", true, "none", false],
  ["a cluster with another value of the annotation has volumes", true, "cinder", true],
  ["no cluster has volumes where the fleet is started without", false, undefined, false],
])("%s", ([, withVolumes, value, expected]) => {
  expect(hasVolumes({ withVolumes, cluster: cluster(value) })).toBe(expected);
});

test("a cluster has Ingresses on Octavia only if it says so", () => {
  const of = (value: string): Cluster => ({
    ...cluster(),
    metadata: { name: "web", annotations: { [annotations.ingress]: value } },
  });
  expect([cluster(), of("nginx"), of("octavia")].map(hasIngresses)).toEqual([false, false, true]);
});

test("load balancers and volumes of a cluster have its namespace and name, and of a migrated one the name of before", () => {
  const named = (given?: object) =>
    cloudNameOf({ ...cluster(), metadata: { namespace: "shop", name: "web", ...given } });
  const uuid = "6e8ae3a5-0b4c-4f0e-9d26-000000000001";
  expect(named()).toBe("shop-web");
  expect(named({ annotations: { "causeway.dev/cloud-cluster-name": uuid } })).toBe(uuid);
});
