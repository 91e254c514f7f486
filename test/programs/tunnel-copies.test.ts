/**
 * `kubectl cp` of CAUSEWAY_TUNNEL_MIB (64 by default) into a pod and back: a real kube-apiserver, `causeway run
 * tunnel-server`, our agent or konnectivity's, and the kubelet's own code for streams, each a process of its own.
 */
import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  createReadStream,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import { createClient, loadKubeconfig, Node, Pod } from "@causeway/kubernetes";
import { afterEach, describe, expect, test, vi } from "vitest";
import { startKubeApiserver } from "../contracts/kubernetes/kube-apiserver.ts";
import { freePorts } from "../support/free-ports.ts";
import { programs } from "./programs.ts";
import { execute, launch } from "./run.ts";
import { administrator } from "./servers.ts";
import { address, hashOf } from "./tunnel-stage.ts";

const MEBIBYTES = Number(process.env["CAUSEWAY_TUNNEL_MIB"] ?? 64);
/** Milliseconds for one copy. */
const LIMIT = 120_000 + MEBIBYTES * 1_000;
vi.setConfig({ testTimeout: 180_000 + 2 * LIMIT });

const main = resolve(import.meta.dirname, "../../packages/causeway/src/main.ts");
const { konnectivity, kubernetes, probe } = programs();
const missing = [konnectivity, kubernetes, probe].flatMap((built) => ("reason" in built ? built.reason : []));
const dirOf = (built: typeof probe): string => ("reason" in built ? "" : built.dir);

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

function start(program: string, args: readonly string[]) {
  const running = launch(program, args);
  closers.push(() => {
    running.child.kill("SIGKILL");
    return running.ended;
  });
  return running;
}

/** Certificates, a tunnel server, an agent of the kind and a kubelet's streams; the folder and the server's socket. */
async function startTunnel(kind: string) {
  const dir = mkdtempSync(join(tmpdir(), "tunnel-copies-"));
  closers.push(() => rmSync(dir, { recursive: true, force: true }));
  const lifetime = 86_400_000;
  const authority = await createAuthority({ commonName: "tunnel-ca", lifetime });
  const names = { commonName: "tunnel", ipAddresses: ["127.0.0.1"], lifetime };
  const pair = await issueCertificate(authority, { ...names, usages: ["server", "client"] });
  const [ca, crt, key, uds] = ["ca", "crt", "key", "front.sock"].map((name) => join(dir, name)) as [
    string,
    string,
    string,
    string,
  ];
  writeFileSync(ca, authority.certificate);
  writeFileSync(crt, pair.certificate);
  writeFileSync(key, pair.key, { mode: 0o600 });
  const tenant = { name: "a", udsName: uds, agentCaCert: ca, allow: [`${address}/32`] };
  writeFileSync(join(dir, "tenants.yaml"), JSON.stringify({ tenants: [tenant] }));
  const [port = 0, health = 0, admin = 0, kubelet = 0] = await freePorts(4);
  const ports = ["--health-port", "0", "--admin-port", "0", "--agent-port", String(port)];
  const pairOf = (name: string): string[] => [`--${name}-cert=${crt}`, `--${name}-key=${key}`];
  const served = ["run", "tunnel-server", "--tenants", join(dir, "tenants.yaml"), ...ports, ...pairOf("cluster")];
  await start(process.execPath, [main, ...served]).until(/the tunnel server listens/);
  const agent = [`--ca-cert=${ca}`, ...pairOf("agent"), "--proxy-server-host=127.0.0.1", `--proxy-server-port=${port}`];
  const statuses = [`--health-server-port=${health}`, `--admin-server-port=${admin}`, "--sync-interval=200ms"];
  if (kind === "our agent")
    start(process.execPath, [main, "run", "tunnel-agent", ...agent, ...statuses, `--allow-cidr=${address}/32`]);
  else start(join(dirOf(konnectivity), "proxy-agent"), [...agent, ...statuses, "--agent-id=stock"]);
  await start(join(dirOf(probe), "streams"), [`${address}:${kubelet}`]).until(/serving streams/);
  return { dir, uds, crt, key, kubelet };
}

/** A kube-apiserver that reaches nodes through the socket, with pod web on a node: the path of its kubeconfig. */
async function startApi({ dir, uds, crt, key, kubelet }: Awaited<ReturnType<typeof startTunnel>>): Promise<string> {
  const connection = { proxyProtocol: "HTTPConnect", transport: { uds: { udsName: uds } } };
  const egressSelections = [{ name: "cluster", connection }];
  const selector = { apiVersion: "apiserver.k8s.io/v1beta1", kind: "EgressSelectorConfiguration", egressSelections };
  writeFileSync(join(dir, "egress.json"), JSON.stringify(selector));
  const real = await startKubeApiserver({
    flags: [
      `--egress-selector-config-file=${join(dir, "egress.json")}`,
      `--kubelet-client-certificate=${crt}`,
      `--kubelet-client-key=${key}`,
    ],
    without: ["ServiceAccount"],
  });
  closers.push(() => real.close());
  writeFileSync(join(dir, "kubeconfig"), await administrator(real));
  const api = createClient(loadKubeconfig({ path: join(dir, "kubeconfig") }));
  closers.push(() => api.close());
  const [node, pod] = [{ name: "far" }, { namespace: "default", name: "web" }];
  await api.create(Node, { apiVersion: "v1", kind: "Node", metadata: node, spec: {} });
  const status = {
    addresses: [{ type: "InternalIP", address }],
    daemonEndpoints: { kubeletEndpoint: { Port: kubelet } },
  };
  const subresource = { subresource: "status" } as const;
  await api.patch(Node, { namespace: "", ...node }, { type: "merge", body: { status } }, subresource);
  const spec = { nodeName: "far", containers: [{ name: "web", image: "web:1" }] };
  await api.create(Pod, { apiVersion: "v1", kind: "Pod", metadata: pod, spec });
  await api.patch(Pod, pod, { type: "merge", body: { status: { phase: "Running" } } }, subresource);
  return join(dir, "kubeconfig");
}

/** Fills a file with random bytes; their SHA-256. */
function fill(name: string): string {
  const digest = createHash("sha256");
  const out = openSync(name, "w");
  for (let i = 0; i < MEBIBYTES; i++) {
    const block = randomBytes(1 << 20);
    digest.update(block);
    writeSync(out, block);
  }
  closeSync(out);
  return digest.digest("hex");
}

describe.skipIf(missing.length > 0)(
  `kubectl cp of ${MEBIBYTES} MiB${missing.length > 0 ? ` (${missing[0]})` : ""}`,
  () => {
    test.each(["our agent", "a stock agent"])(
      "has equal checksums in both directions with %s",
      { retry: 0 },
      async (kind) => {
        const tunnel = await startTunnel(kind);
        const kubeconfig = await startApi(tunnel);
        // Commands of the pod are processes of this machine: what it has is a folder here.
        const [sent, pod, back] = ["sent", "pod", "back"].map((name) => join(tunnel.dir, name)) as [
          string,
          string,
          string,
        ];
        mkdirSync(pod);
        const sum = fill(sent);
        const copied = async (from: string, to: string): Promise<void> => {
          const began = performance.now();
          const args = ["--kubeconfig", kubeconfig, "cp", "--retries=0", from, to];
          const { code, stderr } = await execute(join(dirOf(kubernetes), "kubectl"), args, { timeout: LIMIT });
          expect(code, stderr).toBe(0);
          const seconds = ((performance.now() - began) / 1_000).toFixed(1);
          console.log(`${kind}: ${MEBIBYTES} MiB ${from === sent ? "into the pod" : "out of the pod"} in ${seconds} s`);
        };
        await copied(sent, `web:${pod}/received`);
        expect(await hashOf(createReadStream(join(pod, "received")))).toBe(sum);
        await copied(`web:${pod}/received`, back);
        expect(await hashOf(createReadStream(back))).toBe(sum);
      },
    );
  },
);
