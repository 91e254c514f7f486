import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApiServer } from "@causeway/apiserver";
import { canonicalJson } from "@causeway/foundation";
import type { SharedEtcdRotation } from "@causeway/hosted-control-plane";
import {
  createClient,
  loadKubeconfig,
  Namespace,
  Secret,
  StatefulSet,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { RotateEtcdOptions } from "./command.ts";
import { isOver, progressOf, rotateEtcdAuthority, runningIn } from "./etcd-action.ts";

vi.setConfig({ testTimeout: 60_000 });

const [first, second] = ["2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"];
const at = (changes: Partial<SharedEtcdRotation>): SharedEtcdRotation => ({
  requested: first,
  rotation: first,
  stage: "single",
  isRolledOut: true,
  waiting: { count: 0, names: [] },
  ...changes,
});

describe("a rotation of the shared authority", () => {
  test.for<[title: string, found: SharedEtcdRotation, running: string | undefined]>([
    ["that was never requested", at({ requested: undefined, rotation: undefined }), undefined],
    ["that has ended", at({}), undefined],
    ["that is requested", at({ requested: second }), second],
    ["that continues", at({ stage: "trust" }), first],
    ["that continues while another one is requested", at({ stage: "sign", requested: second }), first],
  ])("%s", ([, found, running]) => {
    expect(runningIn(found)).toBe(running);
  });

  test("is over when its members run with the new authority alone", () => {
    expect(isOver(at({}), first)).toBe(true);
    expect(isOver(at({ isRolledOut: false }), first)).toBe(false);
    expect(isOver(at({ stage: "sign" }), first)).toBe(false);
    expect(isOver(at({}), second)).toBe(false);
  });

  test("is shown with what it waits for", () => {
    const waiting = { count: 3, names: ["hcp-a", "hcp-b"] };
    expect(progressOf(at({ stage: "trust", waiting }), first)).toBe(
      "members and control planes get both authorities; waits for hcp-a, hcp-b and 1 more",
    );
    expect(progressOf(at({}), second)).toBe(`waiting for rotation ${second} to begin`);
    expect(progressOf(at({ stage: "sign" }), second)).toMatch(/\(of rotation 2026-01-01T00:00:00Z\)$/);
    expect(progressOf(at({ isRolledOut: false }), first)).toBe("members remove the old authority");
  });
});

const closers: (() => unknown)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of closers.splice(0).toReversed()) await close();
});

const prefix = "controlplane.causeway.dev";
const namespace = "hcp-etcd-1";

/** A service cluster as the controller leaves it behind. */
async function startServiceCluster(): Promise<{ client: KubernetesClient; kubeconfig: string }> {
  const server = await startApiServer({});
  const text = await server.management.kubeconfig();
  const client = createClient(loadKubeconfig({ text }));
  const dir = mkdtempSync(join(tmpdir(), "rotate-etcd-"));
  writeFileSync(join(dir, "kubeconfig"), text, { mode: 0o600 });
  closers.push(
    () => rmSync(dir, { recursive: true }),
    () => server.close(),
    () => client.close(),
  );
  return { client, kubeconfig: join(dir, "kubeconfig") };
}

/** As the controller annotates pods with the credentials that they were made with. */
function digestOf(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex").slice(0, 32);
}

async function addEtcd(client: KubernetesClient, name: string, owner: string): Promise<void> {
  await client.create(Namespace, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name,
      labels: { "app.kubernetes.io/managed-by": "causeway-hosted-control-plane" },
      annotations: { [`${prefix}/id`]: "etcd", [`${prefix}/owner`]: owner },
    },
  });
  await client.create(Secret, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: name, name: "etcd-ca-copy" },
  });
  const data = { "ca.crt": Buffer.from("-----BEGIN CERTIFICATE-----\nnew").toString("base64") };
  await client.create(Secret, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: name, name: "etcd" },
    data,
  });
  const labels = { app: "etcd" };
  const annotations = { [`${prefix}/credentials`]: digestOf(data) };
  await client.create(StatefulSet, {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { namespace: name, name: "etcd" },
    spec: {
      replicas: 1,
      serviceName: "etcd",
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations }, spec: { containers: [{ name: "etcd", image: "etcd:1" }] } },
    },
  } as StatefulSet);
  const { metadata } = await client.get(StatefulSet, { namespace: name, name: "etcd" });
  const counts = { replicas: 1, readyReplicas: 1, updatedReplicas: 1, availableReplicas: 1 };
  const body = { status: { ...counts, observedGeneration: metadata.generation } };
  await client.patch(
    StatefulSet,
    { namespace: name, name: "etcd" },
    { type: "merge", body },
    { subresource: "status" },
  );
}

test("the command requests a rotation, shows its progress and ends with it", async () => {
  const { client, kubeconfig } = await startServiceCluster();
  const lines: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => (lines.push(String(text)), true));
  const run = (more: Partial<RotateEtcdOptions> = {}) =>
    rotateEtcdAuthority(
      { wait: true, timeout: 30, kubeconfig, ...more } as RotateEtcdOptions,
      new AbortController().signal,
    );
  await expect(run()).rejects.toMatchObject({ code: "SHARED_ETCD_NOT_FOUND" });
  await addEtcd(client, namespace, "here");
  await addEtcd(client, "hcp-etcd-2", "there");
  await expect(run()).rejects.toMatchObject({ code: "SHARED_ETCD_NOT_FOUND", hint: /--owner: here, there/ as never });

  const running = run({ owner: "here", without: ["hcp-broken"] });
  const requested = await vi.waitFor(async () => {
    const { annotations = {} } = (await client.get(Namespace, { namespace: "", name: namespace })).metadata;
    expect(annotations[`${prefix}/rotate-without`]).toBe("hcp-broken");
    return annotations[`${prefix}/rotate-after`] ?? "";
  }, 20_000);
  const play = async (stage: string | null, waitsFor: string[] = []): Promise<void> => {
    const progress = JSON.stringify({ stage, waiting: waitsFor.length, waitsFor });
    const annotate = (annotations: object) => ({ type: "merge" as const, body: { metadata: { annotations } } });
    await client.patch(
      Namespace,
      { namespace: "", name: namespace },
      annotate({ [`${prefix}/rotation-progress`]: progress }),
    );
    const place = { [`${prefix}/rotation`]: requested, [`${prefix}/rotation-stage`]: stage };
    await client.patch(Secret, { namespace, name: "etcd-ca-copy" }, annotate(place));
  };
  await play("trust", ["hcp-a"]);
  await vi.waitFor(() => expect(lines.join("")).toContain("waits for hcp-a"), 20_000);
  await play("sign");
  await vi.waitFor(() => expect(lines.join("")).toContain("certificates of the new authority"), 20_000);
  // The stage ends before the certificates follow it, and those before the pods are made with them.
  const pem = "-----BEGIN CERTIFICATE-----\nnew";
  const trusted = async (certificates: string): Promise<Record<string, string>> => {
    const data = { "ca.crt": Buffer.from(certificates).toString("base64") };
    await client.patch(Secret, { namespace, name: "etcd" }, { type: "merge", body: { data } });
    return data;
  };
  const madeWith = async (data: Record<string, string>): Promise<void> => {
    const annotations = { [`${prefix}/credentials`]: digestOf(data) };
    const body = { spec: { template: { metadata: { annotations } } } };
    const { metadata } = await client.patch(StatefulSet, { namespace, name: "etcd" }, { type: "merge", body });
    const status = { type: "merge" as const, body: { status: { observedGeneration: metadata.generation } } };
    await client.patch(StatefulSet, { namespace, name: "etcd" }, status, { subresource: "status" });
  };
  await madeWith(await trusted(`${pem}\n${pem}`));
  await play(null);
  await vi.waitFor(() => expect(lines.join("")).toContain("members remove the old authority"), 20_000);
  const single = await trusted(`${pem}er`);
  expect(lines.join("")).not.toContain("alone");
  await madeWith(single);
  await running;
  expect(lines.at(-1)).toBe(`shared etcd ${namespace}: its members trust the new authority alone\n`);
  const other = await client.get(Namespace, { namespace: "", name: "hcp-etcd-2" });
  expect(other.metadata.annotations?.[`${prefix}/rotate-after`]).toBeUndefined();
});
