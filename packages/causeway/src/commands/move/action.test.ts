import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allKinds, Cluster, HostedControlPlane, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import { createClient, loadKubeconfig } from "@causeway/kubernetes";
import { afterAll, beforeAll, expect, test } from "vitest";
import { move } from "./action.ts";
import type { MoveOptions } from "./command.ts";

const signal = new AbortController().signal;
const closing: (() => unknown)[] = [];
let options: MoveOptions;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "move-"));
  closing.push(() => rmSync(folder, { recursive: true }));
  const serve = async (name: string) => {
    const server = await startApiServer({ crds: allKinds.map(toCustomResourceDefinition) });
    const [text, file] = [await server.management.kubeconfig(), join(folder, name)];
    writeFileSync(file, text);
    const client = createClient(loadKubeconfig({ text }));
    closing.push(
      () => server.close(),
      () => client.close(),
    );
    return { client, file };
  };
  const [from, to] = [await serve("from"), await serve("to")];
  const metadata = { namespace: "default", name: "web" };
  await from.client.create(Cluster, { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", metadata, spec: {} });
  await from.client.create(HostedControlPlane, {
    apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
    kind: "HostedControlPlane",
    metadata,
    spec: { version: "v1.34.0", runtime: "Pods" },
  });
  const places = { kubeconfig: from.file, toKubeconfig: to.file, namespace: "default" };
  options = { ...places, allNamespaces: false, hostedControlPlanes: false, dryRun: true } as MoveOptions;
});
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

test.for<[string, Partial<MoveOptions>, object]>([
  [
    "refuses hosted control planes, and names the option that hands them over",
    {},
    { code: "MOVE_CONTROL_PLANE_STAYS", hint: expect.stringContaining("--hosted-control-planes") as string },
  ],
  ["reads the service cluster with the option", { hostedControlPlanes: true }, { code: "MOVE_CONTROL_PLANE_MISSING" }],
  ["has no waves without the option", { wave: 2 }, { code: "FLAG_INVALID" }],
  ["says which namespaces do not move", { allNamespaces: true }, { code: "MOVE_NAMESPACES_LEFT" }],
])("causeway move %s", async ([, more, error]) => {
  await expect(move({ ...options, ...more }, signal)).rejects.toMatchObject(error);
});
