/** A rotation of a hosted control plane's authority, with real clients and machines, on the embedded runtime. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { allKinds, Cluster, HostedControlPlane, Machine, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import { publicKeyHash, silentLog, splitCertificates, systemClock } from "@causeway/foundation";
import { createEmbeddedRuntime, createHostedControlPlane } from "@causeway/hosted-control-plane";
import {
  CertificateSigningRequest,
  ConfigMap,
  createClient,
  createEventRecorder,
  createInformers,
  getCondition,
  loadKubeconfig,
  Node,
  ownerReference,
  Secret,
  timestamp,
  secretData,
  type Condition,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { memoryIdentity, runMachine } from "@causeway/machine-agent";
import { afterEach, expect, test, vi } from "vitest";

vi.setConfig({ testTimeout: 120_000 });

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface World {
  readonly client: KubernetesClient;
  stop(): Promise<void>;
}

async function world(dir?: string): Promise<World> {
  const crds = allKinds.map(toCustomResourceDefinition);
  const server = await startApiServer({ crds, ...(dir === undefined ? {} : { dir }) });
  const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  const informers = createInformers(client, { clock: systemClock, log: silentLog });
  const controller = createHostedControlPlane({
    informers,
    runtime: createEmbeddedRuntime({ apiServer: server }),
    advertise: async () => "127.0.0.1",
    events: createEventRecorder(client, { component: "test", clock: systemClock }),
    clock: systemClock,
    log: silentLog,
  });
  const stopping = new AbortController();
  const running = [informers.run(stopping.signal), controller.run(stopping.signal)];
  let stopped: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    stopping.abort(new Error("stopped"));
    await Promise.allSettled(running);
    await client.close();
    await server.close();
  };
  const made = { client, stop: () => (stopped ??= end()) };
  closing.push(made.stop);
  return made;
}

async function eventually<T>(what: string, find: () => Promise<T | undefined>): Promise<T> {
  for (let i = 0; i < 1200; i++) {
    const found = await find();
    if (found !== undefined) return found;
    await systemClock.sleep(25);
  }
  throw new Error(`it does not come: ${what}`);
}

const key = (name: string) => ({ namespace: "default", name });
const labels = { "cluster.x-k8s.io/cluster-name": "one" };

async function make({ client }: World): Promise<void> {
  const cluster = await client.create(Cluster, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: key("one"),
    spec: { controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name: "one" } },
  });
  await client.create(HostedControlPlane, {
    apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
    kind: "HostedControlPlane",
    metadata: { ...key("one"), labels, ownerReferences: [ownerReference(cluster, { controller: true })] },
    spec: { version: "v1.34.0" },
  });
}

const find = ({ client }: World) => client.get(HostedControlPlane, key("one"));
const condition = ({ status }: HostedControlPlane, type: string) =>
  getCondition((status?.conditions ?? []) as Condition[], type);

const phase = (at: World, wanted: string) =>
  eventually(`phase ${wanted}`, async () => {
    const object = await find(at);
    return object.status?.authorities?.phase === wanted && condition(object, "Available")?.status === "True"
      ? object
      : undefined;
  });

/** Changes spec.authorities; a change of the object also has its Machines reconciled again. */
async function ask({ client }: World, authorities: object): Promise<void> {
  await client.patch(HostedControlPlane, key("one"), {
    type: "merge",
    body: { spec: { authorities }, metadata: { annotations: { touched: String(Date.now()) } } },
  });
}

const decoded = (secret: Secret, name: string) => Buffer.from(secret.data?.[name] ?? "", "base64").toString("utf8");
const kubeconfig = async ({ client }: World) => decoded(await client.get(Secret, key("one-kubeconfig")), "value");
const authority = async ({ client }: World) => decoded(await client.get(Secret, key("one-ca")), "tls.crt");

/** A client that remains open until the test ends. */
function clientOf(text: string): KubernetesClient {
  const client = createClient(loadKubeconfig({ text }));
  closing.push(() => client.close());
  return client;
}

/** Asks on new connections again and again, with what `text` says at that time; returns the failures at its end. */
function probe(text: () => Promise<string>): { stop(): Promise<{ asked: number; failures: string[] }> } {
  const ending = new AbortController();
  const failures: string[] = [];
  let asked = 0;
  const running = (async () => {
    while (!ending.signal.aborted) {
      const client = createClient(loadKubeconfig({ text: await text() }));
      await client
        .list(ConfigMap, { namespace: "kube-system" })
        .catch((error: unknown) => failures.push(String(error)));
      asked += 1;
      await client.close();
      await systemClock.sleep(10);
    }
  })();
  const stop = async () => {
    ending.abort();
    await running;
    return { asked, failures };
  };
  closing.push(async () => void (await stop()));
  return { stop };
}

/** A connection with the client certificate of a kubeconfig, which sends nothing. */
async function connected(text: string): Promise<{ ended: Promise<unknown> }> {
  const { server, ca, certificate, key } = loadKubeconfig({ text }) as unknown as Record<string, string>;
  const { hostname, port } = new URL(server ?? "");
  const socket = connect({ host: hostname, port: Number(port), ca, cert: certificate, key });
  closing.push(async () => void socket.destroy());
  const ended = once(socket, "close");
  await once(socket, "secureConnect");
  socket.on("error", () => {});
  return { ended };
}

const token = "abcdef.0123456789abcdef";

function bootstrapToken(): Secret {
  const [id = "", secret = ""] = token.split(".");
  const values = {
    "token-id": id,
    "token-secret": secret,
    expiration: timestamp(Date.now() + 600_000),
    "usage-bootstrap-signing": "true",
    "usage-bootstrap-authentication": "true",
    "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
  };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "kube-system", name: `bootstrap-token-${id}` },
    type: "bootstrap.kubernetes.io/token",
    data: secretData(values),
  };
}

/** Approves every request of kubelets until the test ends. */
function approve(at: World): void {
  const ending = new AbortController();
  const running = (async () => {
    while (!ending.signal.aborted) {
      const client = createClient(loadKubeconfig({ text: await kubeconfig(at) }));
      const requests = await client.list(CertificateSigningRequest).catch(() => ({ items: [] }));
      for (const csr of requests.items) {
        if (csr.status?.conditions?.length) continue;
        const condition = { type: "Approved", status: "True", reason: "Test", message: "by the test" } as const;
        const judged = { ...csr, status: { ...csr.status, conditions: [condition] } };
        await client.update(CertificateSigningRequest, judged, { subresource: "approval" }).catch(() => {});
      }
      await client.close();
      await systemClock.sleep(20);
    }
  })();
  closing.push(async () => {
    ending.abort();
    await running;
  });
}

/** A Machine, and the machine that it represents, whose bootstrap data has the pins of these authorities. */
async function machine(at: World, name: string, authorities: string): Promise<{ stop(): Promise<void> }> {
  const { endpoint } = (await find(at)).status ?? {};
  await at.client.create(Machine, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    metadata: { ...key(name), labels },
    spec: {
      clusterName: "one",
      bootstrap: { dataSecretName: name },
      infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackMachine", name },
    },
  });
  const document = {
    kind: "JoinConfiguration",
    discovery: {
      bootstrapToken: {
        apiServerEndpoint: `${endpoint?.host}:${endpoint?.port}`,
        token,
        caCertHashes: splitCertificates(authorities).map(publicKeyHash),
      },
    },
    nodeRegistration: { name },
  };
  const config = {
    write_files: [{ path: "/j", content: JSON.stringify(document) }],
    runcmd: ["kubeadm join --config /j"],
  };
  const stop = new AbortController();
  const running = runMachine(
    {
      id: `3f2a7c1e-0000-4000-8000-00000000000${name.at(-1)}`,
      name,
      userData: `#cloud-config\n${JSON.stringify(config)}`,
      addresses: [{ type: "InternalIP", address: "10.6.0.5" }],
      resources: { cpu: 2, memoryMiB: 2048, diskGiB: 10 },
    },
    { identity: memoryIdentity(), clock: systemClock, log: silentLog },
    stop.signal,
  );
  const end = async (): Promise<void> => {
    stop.abort(new Error("stopped"));
    await running;
  };
  closing.push(end);
  return { stop: end };
}

const ready = (client: KubernetesClient, name: string) =>
  eventually(`${name} ready`, async () => {
    const node = await client.find(Node, { namespace: "", name });
    return node?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True")
      ? node
      : undefined;
  });

/** A token of the account "default", as a pod has it. */
async function accountToken(client: KubernetesClient): Promise<string> {
  const path = "/api/v1/namespaces/default/serviceaccounts/default/token";
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
  const made = (await client.request("POST", path, { body })) as { status: { token: string } };
  return made.status.token;
}

async function isBelieved(client: KubernetesClient, accountToken: string): Promise<boolean> {
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token: accountToken } };
  const made = (await client.request("POST", "/apis/authentication.k8s.io/v1/tokenreviews", { body })) as {
    status: { authenticated?: boolean };
  };
  return made.status.authenticated === true;
}

test("both authorities are trusted in the middle of a rotation and the old one not after it, without a failed request", async () => {
  const at = await world();
  await make(at);
  await phase(at, "Current");
  const [old, oldText] = [await authority(at), await kubeconfig(at)];
  const before = clientOf(oldText);
  await before.create(Secret, bootstrapToken());
  const oldToken = await accountToken(before);
  approve(at);
  const first = await machine(at, "m0", old);
  await ready(before, "m0");
  // Who follows the kubeconfig's Secret never notices; who keeps the old kubeconfig does so at the retirement.
  const following = probe(() => kubeconfig(at));
  const keeping = probe(async () => oldText);
  const rotateAfter = timestamp(Date.now());
  await ask(at, { rotateAfter });
  const prepared = await phase(at, "Prepared");
  expect(prepared.status?.authorities).toMatchObject({ rotation: rotateAfter, machines: { count: 1, names: ["m0"] } });
  expect(condition(prepared, "AuthoritiesCurrent")).toMatchObject({ status: "False", reason: "Prepared" });

  const both = splitCertificates(await authority(at));
  expect(both).toHaveLength(2);
  expect(both[1]).toBe(splitCertificates(old)[0]);
  const middleText = await kubeconfig(at);
  const middle = clientOf(middleText);
  const published = await eventually("both authorities in kube-root-ca.crt", async () => {
    const { data } = await middle.get(ConfigMap, { namespace: "default", name: "kube-root-ca.crt" });
    return splitCertificates(data?.["ca.crt"] ?? "").length === 2 ? data : undefined;
  });
  expect(splitCertificates(published["ca.crt"] ?? "")).toEqual(both);
  const newToken = await accountToken(middle);
  expect([await isBelieved(before, newToken), await isBelieved(middle, oldToken)]).toEqual([true, true]);

  await ask(at, { rotateAfter, retireOldAfter: rotateAfter });
  const refused = await eventually("the machine holds the retirement", async () => {
    const found = condition(await find(at), "AuthoritiesCurrent");
    return found?.reason === "MachinesRemain" ? found : undefined;
  });
  expect(refused.message).toContain("Machines m0 were made before");
  expect((await keeping.stop()).failures).toEqual([]);

  const idle = await connected(oldText);
  // A Machine of the second in which the rotation was prepared counts as one of before.
  const rotatedAt = Date.parse((await find(at)).status?.authorities?.rotatedAt ?? "");
  await systemClock.sleep(Math.max(0, rotatedAt - Date.now()) + 1);
  // Its bootstrap data was made before the rotation.
  await machine(at, "m1", old);
  await ready(middle, "m1");
  await first.stop();
  await at.client.delete(Machine, key("m0"));
  await ask(at, { rotateAfter, retireOldAfter: rotateAfter });
  const done = await phase(at, "Current");
  expect(done.status?.authorities).toMatchObject({ rotation: rotateAfter });
  expect(done.status?.authorities?.retiredAt).toBeDefined();
  expect(condition(done, "AuthoritiesCurrent")?.status).toBe("True");
  expect(splitCertificates(await authority(at))).toEqual([both[0]]);

  await idle.ended;
  const last = clientOf(await kubeconfig(at));
  expect([await isBelieved(last, oldToken), await isBelieved(last, newToken)]).toEqual([false, true]);
  await expect(clientOf(oldText).list(ConfigMap)).rejects.toThrow();
  const { certificate, key: privateKey } = loadKubeconfig({ text: oldText }) as { certificate: string; key: string };
  const { server } = loadKubeconfig({ text: oldText }) as { server: string };
  const withOldCertificate = createClient({ server, ca: both[0] ?? "", certificate, key: privateKey });
  closing.push(() => withOldCertificate.close());
  await expect(withOldCertificate.list(ConfigMap)).rejects.toThrow(/Unauthorized/i);

  // The machine that joined in the middle reports on, on connections of its own.
  const since = Date.now();
  await eventually("m1 renews its Lease", async () => {
    const lease = (await last.request("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/m1")) as {
      spec: { renewTime: string };
    };
    return Date.parse(lease.spec.renewTime) > since ? true : undefined;
  });
  const { asked, failures } = await following.stop();
  expect(failures).toEqual([]);
  expect(asked).toBeGreaterThan(20);
});

test("a rotation continues after a restart in its middle, and a second one waits for its end", async () => {
  const dir = await mkdtemp(join(tmpdir(), "rotation-"));
  closing.push(() => rm(dir, { recursive: true, force: true }));
  const one = await world(dir);
  await make(one);
  await phase(one, "Current");
  const oldText = await kubeconfig(one);
  const rotateAfter = timestamp(Date.now());
  await ask(one, { rotateAfter });
  await phase(one, "Prepared");
  const signer = splitCertificates(await authority(one))[0];
  await one.stop();

  const two = await world(dir);
  await phase(two, "Prepared");
  await eventually("the old kubeconfig serves after the restart", () =>
    clientOf(oldText)
      .list(ConfigMap)
      .catch(() => undefined),
  );
  const again = timestamp(Date.now() + 1000);
  await ask(two, { rotateAfter: again, retireOldAfter: null });
  await systemClock.sleep(1_500);
  await ask(two, { rotateAfter: again });
  const waiting = await phase(two, "Prepared");
  expect(waiting.status?.authorities?.rotation).toBe(rotateAfter);
  expect(splitCertificates(await authority(two))[0]).toBe(signer);
  await ask(two, { rotateAfter: again, retireOldAfter: again });
  await eventually("the second rotation has ended", async () => {
    const { authorities } = (await find(two)).status ?? {};
    return authorities?.phase === "Current" && authorities.rotation === again ? true : undefined;
  });
  const roots = splitCertificates(await authority(two));
  expect(roots).toHaveLength(1);
  expect(roots[0]).not.toBe(signer);
  await clientOf(await kubeconfig(two)).list(ConfigMap);
});
