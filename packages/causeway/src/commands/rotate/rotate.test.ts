import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allKinds, Cluster, HostedControlPlane, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import { silentLog, splitCertificates, systemClock } from "@causeway/foundation";
import { createEmbeddedRuntime, createHostedControlPlane } from "@causeway/hosted-control-plane";
import {
  createClient,
  createEventRecorder,
  createInformers,
  loadKubeconfig,
  ownerReference,
  Secret,
  secretText,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { afterEach, describe, expect, test, vi } from "vitest";
import { rotateAuthority } from "./action.ts";
import type { RotateAuthorityOptions } from "./command.ts";
import {
  afterPreparation,
  isReached,
  progressOf,
  requestRetirement,
  requestRotation,
  type Request,
} from "./progress.ts";

vi.setConfig({ testTimeout: 60_000 });

type Authorities = NonNullable<NonNullable<HostedControlPlane["status"]>["authorities"]>;
const planeOf = (status: Authorities, spec: HostedControlPlane["spec"]["authorities"] = {}): HostedControlPlane =>
  ({ spec: { version: "v1.34.0", authorities: spec }, status: { authorities: status } }) as HostedControlPlane;
const [before, rotation, now] = ["2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"];
const request = { ignoreMachines: false, now };

describe("the request that rotate writes to a control plane", () => {
  test.each<[string, Request, Request]>([
    ["a rotation", requestRotation(planeOf({ phase: "Current" }), now), { patch: { rotateAfter: now }, rotation: now }],
    [
      "a rotation after an earlier one",
      requestRotation(planeOf({ phase: "Current", rotation }), now),
      { patch: { rotateAfter: now }, rotation: now },
    ],
    [
      "nothing, while one is running",
      requestRotation(planeOf({ phase: "Preparing", rotation }), now),
      { patch: undefined, rotation },
    ],
    ["nothing before it was initialised", requestRotation(planeOf({}), now), { refusal: "it has no authorities yet" }],
    [
      "a retirement",
      requestRetirement(planeOf({ phase: "Prepared", rotation }), request),
      { patch: { retireOldAfter: now }, rotation },
    ],
    [
      "a retirement in place of one for an earlier rotation",
      requestRetirement(planeOf({ phase: "Prepared", rotation }, { retireOldAfter: before }), request),
      { patch: { retireOldAfter: now }, rotation },
    ],
    [
      "nothing, when the retirement is requested already",
      requestRetirement(planeOf({ phase: "Prepared", rotation }, { retireOldAfter: rotation }), request),
      { patch: undefined, rotation },
    ],
    [
      "that machines are given up, too",
      requestRetirement(planeOf({ phase: "Prepared", rotation }, { retireOldAfter: rotation }), {
        ...request,
        ignoreMachines: true,
      }),
      { patch: { ignoreMachines: true }, rotation },
    ],
    [
      "no retirement without a rotation",
      requestRetirement(planeOf({ phase: "Current", rotation }), request),
      { refusal: "no rotation is under way, and nothing can be retired" },
    ],
  ])("is %s", (_, found, expected) => {
    expect(found).toEqual(expected);
  });

  test("is reached when the rotation is there, or past it", () => {
    const at = (phase: Authorities["phase"], of = rotation) => planeOf({ phase, rotation: of } as Authorities);
    const reached = (phase: Authorities["phase"], goal: "Prepared" | "Current") => isReached(at(phase), rotation, goal);
    expect(
      (["Current", "Preparing", "Prepared", "Retiring"] as const).map((phase) => reached(phase, "Prepared")),
    ).toEqual([true, false, true, true]);
    expect(reached("Retiring", "Current")).toBe(false);
    expect(reached("Current", "Current")).toBe(true);
    expect(isReached(at("Current", before), rotation, "Current")).toBe(false);
  });

  test("is shown with what the control plane says, and with what is left to do", () => {
    const plane = planeOf({ phase: "Prepared", rotation });
    expect(progressOf(plane)).toBe("Prepared");
    const names = Array.from({ length: 20 }, (_, i) => `m${i}`);
    expect(afterPreparation("a/b", { machines: { count: 22, names } })[0]).toMatch(/m0, .*m19 and 2 more$/);
    expect(afterPreparation("a/b", {})).toHaveLength(2);
  });
});

const closers: (() => unknown)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of closers.splice(0).toReversed()) await close();
});

async function startWorld(): Promise<{ client: KubernetesClient; kubeconfig: string }> {
  const server = await startApiServer({ crds: allKinds.map(toCustomResourceDefinition) });
  const text = await server.management.kubeconfig();
  const client = createClient(loadKubeconfig({ text }));
  const dir = mkdtempSync(join(tmpdir(), "rotate-"));
  const kubeconfig = join(dir, "kubeconfig");
  writeFileSync(kubeconfig, text, { mode: 0o600 });
  const tools = { clock: systemClock, log: silentLog };
  const informers = createInformers(client, tools);
  const runtime = createEmbeddedRuntime({ apiServer: server });
  const events = createEventRecorder(client, { component: "test", clock: systemClock });
  const controller = createHostedControlPlane({
    informers,
    runtime,
    advertise: async () => "127.0.0.1",
    events,
    ...tools,
  });
  const stopping = new AbortController();
  const running = Promise.allSettled([informers.run(stopping.signal), controller.run(stopping.signal)]);
  closers.push(async () => {
    stopping.abort();
    await running;
    await client.close();
    await server.close();
    rmSync(dir, { recursive: true });
  });
  return { client, kubeconfig };
}

async function create(
  client: KubernetesClient,
  kind: "HostedControlPlane" | "KubeadmControlPlane",
  name: string,
): Promise<void> {
  const metadata = { namespace: "default", name };
  const controlPlaneRef = { apiGroup: "controlplane.cluster.x-k8s.io", kind, name };
  const apiVersion = "cluster.x-k8s.io/v1beta2";
  const cluster = await client.create(Cluster, { apiVersion, kind: "Cluster", metadata, spec: { controlPlaneRef } });
  if (kind !== "HostedControlPlane") return;
  const labels = { "cluster.x-k8s.io/cluster-name": name };
  await client.create(HostedControlPlane, {
    apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
    kind,
    metadata: { ...metadata, labels, ownerReferences: [ownerReference(cluster, { controller: true })] },
    spec: { version: "v1.34.0" },
  });
}

test("the command takes a control plane through both phases, with its progress, and all three roots are new", async () => {
  const { client, kubeconfig } = await startWorld();
  await create(client, "HostedControlPlane", "web");
  await create(client, "KubeadmControlPlane", "vm");
  const key = { namespace: "default", name: "web" };
  await vi.waitFor(
    async () =>
      expect((await client.get(HostedControlPlane, key)).status?.initialization?.controlPlaneInitialized).toBe(true),
    { timeout: 30_000, interval: 100 },
  );
  const root = async (purpose: string): Promise<string> =>
    secretText(await client.get(Secret, { namespace: "default", name: `web-${purpose}` }), "tls.crt") ?? "";
  const old = { ca: await root("ca"), sa: await root("sa"), proxy: await root("proxy") };
  const lines: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => (lines.push(String(text)), true));
  const defaults: RotateAuthorityOptions = { retire: false, ignoreMachines: false, wait: true, timeout: 40 };
  const run = (name: string, more: Partial<RotateAuthorityOptions> = {}) =>
    rotateAuthority(name, { ...defaults, kubeconfig, ...more }, new AbortController().signal);

  await expect(run("default/vm")).rejects.toMatchObject({ code: "CONTROL_PLANE_NOT_HOSTED" });
  await expect(run("default/web", { retire: true })).rejects.toMatchObject({ code: "ROTATION_NOT_POSSIBLE" });
  // An authority of this second is not older than it.
  await systemClock.sleep(1_100);
  await run("default/web");
  expect(lines.join("")).toMatch(
    /rotation \S+ requested\n(.*\n)*Prepared: .*\n(.*\n)*then: causeway rotate authority default\/web --retire\n$/,
  );
  for (const purpose of ["ca", "proxy"] as const) {
    const both = splitCertificates(await root(purpose));
    expect(both).toHaveLength(2);
    expect(both[1]).toBe(splitCertificates(old[purpose])[0]);
  }
  lines.splice(0);
  await run("web", { namespace: "default", retire: true });
  expect(lines.at(-1)).toBe("cluster default/web: the old authorities are no longer trusted\n");
  for (const purpose of ["ca", "sa", "proxy"] as const) {
    expect(splitCertificates(await root(purpose)).length).toBeLessThanOrEqual(1);
    expect(await root(purpose)).not.toBe(old[purpose]);
  }
});
