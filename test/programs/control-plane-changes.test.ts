/**
 * A control plane as pods, with Kubernetes' own programs, whose API servers become more and fewer, and whose
 * certificates are renewed, while clients write: no acknowledged write is lost, and the longest gap is printed.
 */
import { X509Certificate } from "node:crypto";
import { connect } from "node:tls";
import { HostedControlPlane } from "@causeway/api";
import { createClient, loadKubeconfig, Pod, Secret, secretText, type KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { namespaceOfOne, settled } from "./pods-settled.ts";
import { available, create, key, missingFor, startWorld, until, type World } from "./runtime-world.ts";
import { expectStored, loadOn, prepareLoad } from "./write-load.ts";

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const why = missingFor("Pods");
const MEMBERS = 3;
/** Writes of each client that are acknowledged after a change. */
const AFTERWARDS = 10;
/** Of a Secret with certificates: when they are issued again, in ms since epoch. */
const RENEW_AT = "controlplane.causeway.dev/renew-at";

describe.skipIf(why !== undefined)(`changes of a control plane${why === undefined ? "" : ` (${why})`}`, () => {
  let world: World;
  let tenant: KubernetesClient;
  let namespace = "";
  beforeAll(async () => {
    world = await startWorld("Pods");
    await create(world, "one", { replicas: 1, pods: { datastore: { type: "Own", members: MEMBERS } } });
    await available(world, "one");
    namespace = await namespaceOfOne(world.client);
    tenant = await world.tenant("one");
    await prepareLoad(tenant);
  });
  afterAll(() => world?.close());

  /** Changes it under writes, until all is as requested: nothing that was acknowledged is lost. */
  const underWrites = async (round: string, change: () => Promise<void>): Promise<void> => {
    const load = loadOn(tenant, round);
    await until("writes", async () => (load.fewest() > 0 ? true : undefined));
    await change();
    const done = load.fewest();
    await until("writes afterwards", async () => (load.fewest() >= done + AFTERWARDS ? true : undefined));
    const result = await load.end();
    const { created, counts, ...rest } = result;
    console.log({ change: round, created: created.length, counted: [...counts.values()], ...rest });
    await expectStored(tenant, round, result);
  };
  const scale = async (replicas: number): Promise<void> => {
    await world.client.patch(HostedControlPlane, key("one"), { type: "merge", body: { spec: { replicas } } });
    await settled(world.client, namespace, { members: MEMBERS, replicas });
  };
  const apiServers = async (): Promise<string[]> => {
    const { items } = await world.client.list(Pod, { namespace });
    const own = items.filter(({ metadata }) => metadata.name.startsWith("kube-apiserver-"));
    return own.map(({ metadata }) => metadata.uid ?? "");
  };

  test("API servers go from 1 to 3 while clients write, and the first one is not restarted", { retry: 0 }, async () => {
    await settled(world.client, namespace, { members: MEMBERS, replicas: 1 });
    const [first] = await apiServers();
    await underWrites("scaled-up", () => scale(3));
    const after = await apiServers();
    expect([after.length, new Set(after).size, after.includes(first ?? "")]).toEqual([3, 3, true]);
  });

  test("certificates are renewed while clients write, and every server has new ones", { retry: 0 }, async () => {
    await settled(world.client, namespace, { members: MEMBERS, replicas: 3 });
    const secrets = async (): Promise<Secret[]> => {
      const { items } = await world.client.list(Secret, { namespace });
      return items.filter(({ metadata }) => metadata.annotations?.[RENEW_AT] !== undefined);
    };
    const served = await servedSerials();
    const [before, user] = [await secrets(), await clientSerial()];
    expect(before.length).toBeGreaterThanOrEqual(4);
    await underWrites("renewed", async () => {
      // Half of the certificates' life is over.
      const body = { metadata: { annotations: { [RENEW_AT]: "1" } } };
      for (const { metadata } of before)
        await world.client.patch(Secret, { namespace, name: metadata.name }, { type: "merge", body });
      await world.client.patch(Secret, key("one-kubeconfig"), { type: "merge", body });
      await until("issued again", async () => {
        const isNew = (await secrets()).every((secret) => Number(secret.metadata.annotations?.[RENEW_AT]) > 1);
        return isNew && (await clientSerial()) !== user ? true : undefined;
      });
      await settled(world.client, namespace, { members: MEMBERS, replicas: 3 });
    });
    for (const { metadata, data } of before) {
      const now = (await secrets()).find((each) => each.metadata.name === metadata.name);
      expect(now?.data, metadata.name).not.toEqual(data);
      expect(now?.data?.["ca.crt"], metadata.name).toEqual(data?.["ca.crt"]);
    }
    expect((await servedSerials()).intersection(served)).toEqual(new Set());
    // Both certificates of clients are valid: a client that is never restarted is not locked out.
    const renewed = createClient(loadKubeconfig({ text: await kubeconfig() }));
    try {
      for (const each of [renewed, tenant]) await until("a request", () => each.request("GET", "/version"));
    } finally {
      await renewed.close();
    }
  });

  test("API servers go from 3 to 1 while clients write", { retry: 0 }, async () => {
    await settled(world.client, namespace, { members: MEMBERS, replicas: 3 });
    const before = await apiServers();
    await underWrites("scaled-down", () => scale(1));
    const after = await apiServers();
    expect([after.length, before.includes(after[0] ?? "")]).toEqual([1, true]);
  });

  const kubeconfig = async (): Promise<string> =>
    secretText(await world.client.get(Secret, key("one-kubeconfig")), "value") ?? "";
  const clientSerial = async (): Promise<string> => {
    const { certificate } = loadKubeconfig({ text: await kubeconfig() });
    return new X509Certificate(certificate ?? "").serialNumber;
  };
  /** Serial numbers of the certificates that new connections to each API server see. */
  const servedSerials = async (): Promise<Set<string>> => {
    const { items } = await world.client.list(Pod, { namespace });
    const all = items.filter(({ metadata }) => metadata.name.startsWith("kube-apiserver-"));
    return new Set(await Promise.all(all.map(({ status }) => serialAt(status?.podIP ?? ""))));
  };
});

function serialAt(host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: 6443, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()?.serialNumber ?? "");
      socket.destroy();
    });
    socket.on("error", reject);
  });
}
