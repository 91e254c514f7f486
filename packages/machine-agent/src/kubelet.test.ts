import { createServer } from "node:https";
import { startApiServer, type ApiServer, type LogicalCluster } from "@causeway/apiserver";
import {
  createAuthority,
  issueCertificate,
  publicKeyHash,
  readCertificate,
  signRequest,
  systemClock,
  type Log,
} from "@causeway/foundation";
import {
  CertificateSigningRequest,
  createClient,
  Event,
  Lease,
  loadKubeconfig,
  Node,
  Pod,
  Secret,
  timestamp,
  secretData,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { discoverAuthority } from "./discovery.ts";
import { memoryIdentity, type IdentityStore } from "./identity.ts";
import type { BootedMachine } from "./interface.ts";
import { readJoin } from "./join.ts";
import { runMachine } from "./kubelet.ts";

const token = "abcdef.0123456789abcdef";
const other = "abcdef.ffffffffffffffff";
let server: ApiServer;
let cluster: LogicalCluster;
let admin: KubernetesClient;
const approving = new AbortController();
let approver: Promise<void>;
const asked: string[] = [];
let refusing = false;
/** Sign for so short a time that renewal is due in a second and a half. */
let briefly = false;

beforeAll(async () => {
  server = await startApiServer();
  cluster = await server.ensureCluster("demo", { listen: { host: "127.0.0.1", port: 0, names: ["127.0.0.1"] } });
  admin = createClient(loadKubeconfig({ text: await cluster.kubeconfig() }));
  await admin.create(Secret, bootstrapToken());
  approver = approve();
});
afterAll(async () => {
  approving.abort();
  await approver;
  await admin.close();
  await server.close();
});

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

/** Judges every request until the tests end. */
async function approve(): Promise<void> {
  const signal = approving.signal;
  while (!signal.aborted) {
    for (const csr of (await admin.list(CertificateSigningRequest)).items) {
      if (csr.status?.conditions?.length) continue;
      asked.push(`${csr.spec.signerName} by ${csr.spec.username}`);
      const type = refusing ? "Denied" : "Approved";
      const condition = { type, status: "True", reason: "Test", message: "by the test" } as const;
      const issued = briefly ? await sign(csr) : csr;
      const judged = { ...issued, status: { ...issued.status, conditions: [condition] } };
      await admin.update(CertificateSigningRequest, judged, { subresource: "approval" });
    }
    await systemClock.sleep(20, signal).catch(() => {});
  }
}
/** Certificates are valid from five minutes before: 80 % of this one's life is over in a second and a half. */
async function sign(csr: CertificateSigningRequest): Promise<CertificateSigningRequest> {
  const request = Buffer.from(csr.spec.request, "base64").toString("utf8");
  const usage = csr.spec.usages?.includes("client auth") ? "client" : "server";
  const certificate = await signRequest(cluster.authority, request, { usages: [usage], lifetime: 77_000 });
  const signed = { ...csr, status: { ...csr.status, certificate: Buffer.from(certificate).toString("base64") } };
  return admin.update(CertificateSigningRequest, signed, { subresource: "status" });
}

function machine(name: string, join: { token?: string; pin?: string; server?: string } = {}): BootedMachine {
  const endpoint = (join.server ?? cluster.url).replace("https://", "");
  const pin = join.pin ?? publicKeyHash(cluster.authority.certificate);
  const document = {
    kind: "JoinConfiguration",
    discovery: {
      bootstrapToken: { apiServerEndpoint: endpoint, token: join.token ?? token, caCertHashes: [pin] },
    },
    nodeRegistration: {
      name,
      kubeletExtraArgs: [
        { name: "cloud-provider", value: "external" },
        { name: "node-labels", value: "pool=a" },
      ],
      taints: [{ key: "node.cluster.x-k8s.io/uninitialized", effect: "NoSchedule" }],
    },
  };
  const config = {
    write_files: [{ path: "/j", content: JSON.stringify(document) }],
    runcmd: ["kubeadm join --config /j"],
  };
  return {
    id: "3f2a7c1e-0000-4000-8000-000000000001",
    name,
    userData: `#cloud-config\n${JSON.stringify(config)}`,
    addresses: [{ type: "InternalIP", address: "10.6.0.5" }],
    resources: { cpu: 2, memoryMiB: 2048, diskGiB: 10 },
  };
}

interface Lines {
  readonly log: Log;
  readonly lines: { message: string; fields: Record<string, unknown> }[];
}

function recordLog(): Lines {
  const lines: Lines["lines"] = [];
  const make = (bound: Record<string, unknown>): Log => {
    const add = (message: string, fields = {}) => void lines.push({ message, fields: { ...bound, ...fields } });
    return { debug: add, info: add, warn: add, error: add, with: (more) => make({ ...bound, ...more }) };
  };
  return { log: make({}), lines };
}

interface Played {
  readonly identity: IdentityStore;
  readonly lines: Lines["lines"];
  stop(): Promise<void>;
}

function play(machine: BootedMachine, options: { identity?: IdentityStore } = {}): Played {
  const { log, lines } = recordLog();
  const identity = options.identity ?? memoryIdentity();
  const stop = new AbortController();
  const running = runMachine(machine, { identity, clock: systemClock, log, random: 0.5 }, stop.signal);
  return {
    identity,
    lines,
    async stop() {
      stop.abort(new Error("stopped"));
      await running;
    },
  };
}

async function eventually<T>(what: string, find: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (let i = 0; i < 320; i++) {
    const found = await find();
    if (found !== undefined) return found;
    await systemClock.sleep(25);
  }
  throw new Error(`not in eight seconds: ${what}`);
}

const node = (name: string) => admin.find(Node, { namespace: "", name });
const readyNode = (name: string) =>
  eventually(`node ${name} Ready`, async () => {
    const found = await node(name);
    return found?.status?.conditions?.some((c) => c.type === "Ready" && c.status === "True") ? found : undefined;
  });

const podOn = (nodeName: string, name: string): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default" },
  spec: {
    nodeName,
    containers: [{ name: "main", image: "registry.example/app" }],
    automountServiceAccountToken: false,
  },
});

describe("the pods of a machine", () => {
  test("run as far as their status says, each with an address of its own, and go when they are deleted", async () => {
    const played = play(machine("worker-pods"));
    await readyNode("worker-pods");
    const key = (name: string) => ({ namespace: "default", name });
    for (const name of ["one", "two"]) await admin.create(Pod, podOn("worker-pods", name));
    const running = await Promise.all(
      ["one", "two"].map((name) =>
        eventually(`pod ${name} Ready`, async () => {
          const pod = await admin.get(Pod, key(name));
          return pod.status?.conditions?.some((c) => c.type === "Ready" && c.status === "True") ? pod : undefined;
        }),
      ),
    );
    expect(new Set(running.map(({ status }) => status?.podIP)).size).toBe(2);
    const event = await eventually("the event", async () => {
      const { items } = await admin.list(Event, { namespace: "default" });
      return items.find(({ reason, involvedObject }) => reason === "Simulated" && involvedObject?.name === "one");
    });
    expect(event.message).toContain("worker-pods is simulated");
    await admin.delete(Pod, key("one"));
    await eventually("pod one gone", async () => ((await admin.find(Pod, key("one"))) ? undefined : true));
    expect(await admin.find(Pod, key("two"))).toBeDefined();
    await played.stop();
  });
});

describe("a machine", () => {
  test("joins as a kubelet does: its Node, lease, client and serving certificate", async () => {
    const played = play(machine("worker-1"));
    const { metadata, spec, status } = await readyNode("worker-1");
    expect(metadata.labels).toMatchObject({ pool: "a", "kubernetes.io/hostname": "worker-1" });
    expect(spec?.taints?.map((t) => t.key)).toEqual(
      expect.arrayContaining(["node.cloudprovider.kubernetes.io/uninitialized", "node.cluster.x-k8s.io/uninitialized"]),
    );
    expect(status).toMatchObject({
      capacity: { cpu: "2", memory: "2Gi" },
      addresses: [{ type: "Hostname", address: "worker-1" }],
      nodeInfo: { kubeletVersion: expect.stringMatching(/^v1\./), systemUUID: machine("x").id },
    });
    await eventually("lease", () => admin.find(Lease, { namespace: "kube-node-lease", name: "worker-1" }));
    const kept = await eventually("serving certificate", async () => {
      const identity = await played.identity.load(Date.now());
      return identity?.serving ? identity : undefined;
    });
    expect(readCertificate(kept.certificate)).toMatchObject({
      commonName: "system:node:worker-1",
      organizations: ["system:nodes"],
    });
    expect(readCertificate(kept.serving?.certificate ?? "")).toMatchObject({
      dnsNames: ["worker-1"],
      ipAddresses: ["10.6.0.5"],
    });
    await played.stop();
    for (const line of played.lines) {
      expect(line.fields["machine"]).toBe("worker-1");
      expect(JSON.stringify(line)).not.toContain(token.split(".")[1]);
    }
  });

  test("started again, continues with what is on its disk, without a request", async () => {
    const first = play(machine("worker-2"));
    await readyNode("worker-2");
    await eventually("serving", async () => (await first.identity.load(Date.now()))?.serving);
    await first.stop();
    const before = asked.length;
    const later = machine("worker-2", { token: other });
    const second = play(later, { identity: first.identity });
    await admin.delete(Node, { namespace: "", name: "worker-2" });
    await second.stop();
    const third = play(later, { identity: first.identity });
    await readyNode("worker-2");
    await third.stop();
    expect(asked.slice(before)).toEqual([]);
  });

  test("renews its client certificate by itself before it expires, and its serving certificate too", async () => {
    briefly = true;
    const played = play(machine("worker-3"));
    const load = () => played.identity.load(Date.now());
    const before = await eventually("serving", async () => {
      const identity = await load();
      return identity?.serving ? identity : undefined;
    });
    briefly = false;
    const asks = asked.length;
    const after = await eventually("renewed", async () => {
      const identity = await load();
      const renewed = identity?.certificate !== before.certificate;
      return renewed && identity?.serving?.certificate !== before.serving?.certificate ? identity : undefined;
    });
    const requests = asked.slice(asks);
    expect(requests).toContain("kubernetes.io/kube-apiserver-client-kubelet by system:node:worker-3");
    expect(requests).toContain("kubernetes.io/kubelet-serving by system:node:worker-3");
    expect(after?.key).not.toBe(before.key);
    await readyNode("worker-3");
    await played.stop();
  });

  test("whose request is denied says so and asks again", async () => {
    refusing = true;
    const played = play(machine("worker-4"));
    try {
      await eventually("denial", () => played.lines.find((l) => String(l.fields["error"]).includes("was refused")));
      expect(await node("worker-4")).toBeUndefined();
    } finally {
      refusing = false;
    }
    await readyNode("worker-4");
    await played.stop();
  });

  test("that joins no cluster waits quietly until it is stopped", async () => {
    const played = play({ ...machine("worker-5"), userData: "#cloud-config\n{}\n" });
    await systemClock.sleep(50);
    expect(played.lines).toHaveLength(1);
    await played.stop();
  });
});

describe("discovery with a bootstrap token", () => {
  const configuration = (join: Parameters<typeof machine>[1]) => readJoin(machine("d", join));
  const discover = (join: Parameters<typeof machine>[1]) =>
    discoverAuthority(configuration(join), AbortSignal.timeout(5_000));

  test("finds the cluster's root", async () => {
    expect(await discover({})).toBe(cluster.authority.certificate);
  });

  test.each([
    ["a token of another secret", { token: other }, "not signed with this machine's token"],
    ["a token that has expired", { token: "absent.0123456789abcdef" }, "not signed with this machine's token"],
    ["another pin", { pin: `sha256:${"0".repeat(64)}` }, "not the pinned one"],
    ["no server at the address", { server: "https://127.0.0.1:1" }, "cannot be reached"],
  ])("refuses %s", async (_, join, message) => {
    await expect(discover(join)).rejects.toMatchObject({
      code: "MACHINE_DISCOVERY_FAILED",
      message: expect.stringContaining(message),
    });
  });

  test.each([
    ["no cluster-info", 404, "{}", "returned 404"],
    ["no JSON", 200, "<html>", "not JSON"],
    ["no kubeconfig", 200, "{}", "publishes no cluster-info"],
    ["too much", 200, " ".repeat(2 * 1024 * 1024), "cannot be reached"],
  ])("refuses an impostor that answers %s", async (_, status, body, message) => {
    const root = await createAuthority({ commonName: "impostor", lifetime: 3600_000 });
    const pair = await issueCertificate(root, { commonName: "x", usages: ["server"], lifetime: 3600_000 });
    const impostor = createServer({ cert: pair.certificate, key: pair.key }, (_request, response) => {
      response.writeHead(status).end(body);
    });
    await new Promise<void>((resolve) => impostor.listen(0, "127.0.0.1", resolve));
    const address = impostor.address();
    const port = typeof address === "object" ? address?.port : undefined;
    try {
      await expect(discover({ server: `https://127.0.0.1:${port}` })).rejects.toMatchObject({
        message: expect.stringContaining(message),
      });
    } finally {
      impostor.closeAllConnections();
      await new Promise((resolve) => impostor.close(resolve));
    }
  });
});
