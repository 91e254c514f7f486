import { DaemonSet, type KubernetesClient } from "@causeway/kubernetes";
import { openStage, type Stage } from "@causeway/magnum-api/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { record } from "../../testing/planned.ts";
import { readBroughtProxy } from "./kube-proxy.ts";

const signal = AbortSignal.timeout(60_000);
const key = { namespace: "kube-system", name: "causeway-csi-cinder-nodeplugin" };

let stage: Stage;
let source: KubernetesClient;
beforeAll(async () => {
  stage = await openStage();
  source = stage.client;
});
afterAll(() => stage.close());

test.for<[string, Readonly<Record<string, string>>, readonly string[]]>([
  ["keeps a node plugin of a user that has the name of the fleet's", {}, []],
  [
    "deletes the fleet's",
    { "app.kubernetes.io/managed-by": "causeway-fleet" },
    ["DaemonSet causeway-csi-cinder-nodeplugin"],
  ],
])("a rollback %s", async ([, labels, expected]) => {
  const app = { app: "one" };
  const containers = [{ name: "one", image: "example.com/one:1" }];
  await source.request("POST", "/apis/apps/v1/namespaces/kube-system/daemonsets", {
    body: {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { ...key, labels },
      spec: { selector: { matchLabels: app }, template: { metadata: { labels: app }, spec: { containers } } },
    },
  });
  expect((await readBroughtProxy({ source }, record, signal)).objects).toEqual(expected);
  await source.delete(DaemonSet, key, { propagationPolicy: "Background" });
});
