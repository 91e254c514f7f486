import { createServer as createHttps, type Server } from "node:https";
import { connect as connectTcp, type AddressInfo } from "node:net";
import { createAuthority, issueCertificate, VirtualClock, type KeyPair } from "@causeway/foundation";
import { renderKubeconfig, type KubernetesClient, type ObjectKey, type Secret } from "@causeway/kubernetes";
import { afterEach, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { createForwardedAccess } from "./forwarded-access.ts";

const now = Date.now();
const lifetime = 24 * 3600_000;
const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
const base64 = (text: string) => Buffer.from(text).toString("base64");

interface Call {
  readonly node: string;
  readonly path: string;
  readonly body: unknown;
  readonly client: string;
}

/**
 * etcd of three members, an API server in front of them that forwards ports as a kubelet does, and the Secrets of the
 * cluster.
 */
async function stage(options: { readonly dead?: string; readonly isDown?: boolean; readonly isHalf?: boolean } = {}) {
  const authority = await createAuthority({ commonName: "etcd-ca", lifetime, now });
  const cluster = await createAuthority({ commonName: "kubernetes", lifetime, now });
  const calls: Call[] = [];
  const ids = { a: "11", b: "22", c: "33" };
  const answers = (path: string): object => {
    if (path === "/v3/cluster/member/list") {
      return { members: Object.entries(ids).map(([name, ID]) => ({ ID, name, isLearner: name === "c" })) };
    }
    if (path === "/v3/maintenance/alarm") return { alarms: [{ memberID: "22", alarm: "NOSPACE" }] };
    if (path === "/v3/maintenance/status") return { leader: "11" };
    return {};
  };
  const server = async (issuer: KeyPair, node: string, dnsNames: readonly string[]) => {
    const pair = await issueCertificate(issuer, { commonName: node, dnsNames, usages: ["server"], lifetime, now });
    return { cert: pair.certificate, key: pair.key };
  };
  const ports = new Map<string, number>();
  for (const node of Object.keys(ids)) {
    const options_ = {
      ...(await server(authority, node, ["localhost"])),
      ca: authority.certificate,
      requestCert: true,
    };
    const etcd = createHttps({ ...options_, rejectUnauthorized: true }, (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const peer = (
          request.socket as unknown as { getPeerCertificate(): { subject: { CN: string } } }
        ).getPeerCertificate();
        const path = request.url ?? "";
        calls.push({
          node,
          path,
          body: JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown,
          client: peer.subject.CN,
        });
        const gone = path === "/v3/cluster/member/remove" && JSON.stringify(calls.at(-1)?.body).includes("99");
        response.statusCode = gone ? 404 : 200;
        response.end(JSON.stringify(gone ? { code: 5, message: "etcdserver: member not found" } : answers(path)));
      });
    });
    ports.set(`etcd-${node}`, await listen(etcd));
    ports.set(`kube-apiserver-${node}`, await listen(createHttps(await server(cluster, node, ["kubernetes"]))));
  }
  const front = createHttps(await server(cluster, "front", ["localhost"]));
  const sockets = new WebSocketServer({ server: front, handleProtocols: () => "v4.channel.k8s.io" });
  sockets.on("connection", (socket, request) => {
    const pod = /pods\/([^/]+)\/portforward/.exec(request.url ?? "")?.[1] ?? "";
    if (pod === options.dead) return socket.close();
    const target = connectTcp(ports.get(pod) ?? 1, "127.0.0.1");
    for (const channel of [0, 1]) socket.send(Buffer.of(channel, 0, 0));
    socket.on("message", (data: Buffer) => target.write(data.subarray(1)));
    target.on("data", (chunk: Buffer) => socket.send(Buffer.concat([Buffer.of(0), chunk])));
    target.on("close", () => socket.close());
    target.on("error", () => socket.close());
    socket.on("close", () => target.destroy());
  });
  let connections = 0;
  // As a load balancer does that has a machine which does not serve yet.
  front.on("connection", (socket) => {
    if (options.isHalf && connections++ % 2 === 0) socket.resetAndDestroy();
  });
  const port = await listen(front);
  if (options.isDown) await new Promise((resolve) => front.close(resolve));
  const text = renderKubeconfig({
    server: `https://localhost:${port}`,
    ca: cluster.certificate,
    clusterName: "demo",
    userName: "admin",
    token: "t",
  });
  const data: Record<string, Record<string, string>> = {
    "demo-kubeconfig": { value: base64(text) },
    "demo-etcd": { "tls.crt": base64(authority.certificate), "tls.key": base64(authority.key) },
  };
  const find = (_type: unknown, { name }: ObjectKey): Promise<Secret | undefined> =>
    Promise.resolve({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name },
      ...(data[name] ? { data: data[name] } : {}),
    });
  const client = { find } as unknown as KubernetesClient;
  const access = createForwardedAccess({ client, clock: new VirtualClock(now) });
  return { access, calls, place: { cluster: { namespace: "default", name: "demo" }, nodes: ["a", "b", "c"] } };
}

const signal = new AbortController().signal;

test("members are listed with their leader, learners and alarms, as a client with a certificate of etcd's authority", async () => {
  const { access, calls, place } = await stage();
  expect(await access.members(place, signal)).toEqual([
    { id: "11", name: "a", isLearner: false, isLeader: true },
    { id: "22", name: "b", isLearner: false, isLeader: false, problem: "etcd raised the alarm NOSPACE" },
    { id: "33", name: "c", isLearner: true, isLeader: false },
  ]);
  expect(new Set(calls.map(({ client }) => client))).toEqual(new Set(["causeway-cluster-api"]));
});

test("a member that does not respond is listed with its problem, and another one answers for it", async () => {
  const { access, place } = await stage({ dead: "etcd-a" });
  const [a, b] = await access.members(place, signal);
  expect(a?.problem).toMatch(/etcd does not respond/);
  expect(b?.problem).toMatch(/NOSPACE/);
});

test("an API server that refuses connections is an error of the caller, and does not end the process", async () => {
  const { access, place } = await stage({ isDown: true });
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  process.once("uncaughtException", note);
  await expect(access.members(place, signal)).rejects.toMatchObject({ code: "CAPI_ETCD_UNREACHABLE" });
  await new Promise((resolve) => setImmediate(resolve));
  process.removeListener("uncaughtException", note);
  expect(uncaught).toEqual([]);
});

test("a machine that does not serve yet, behind the same address, says nothing of the members", async () => {
  const { access, place } = await stage({ isHalf: true });
  expect((await access.members(place, signal)).map(({ problem }) => problem)).toEqual([
    undefined,
    "etcd raised the alarm NOSPACE",
    undefined,
  ]);
});

test("leadership is moved by the leader, and a member is removed by another one", async () => {
  const { access, calls, place } = await stage();
  const [a, , c] = await access.members(place, signal);
  if (!a || !c) throw new Error("members are missing");
  await access.moveLeader(place, c, signal);
  await access.removeMember(place, a, signal);
  await access.removeMember(place, { ...a, id: "99" }, signal);
  const written = calls
    .filter(({ path }) => /transfer|remove/.test(path))
    .map(({ node, path, body }) => [node, path, body]);
  expect(written).toEqual([
    ["a", "/v3/maintenance/transfer-leadership", { targetID: "33" }],
    ["b", "/v3/cluster/member/remove", { ID: "11" }],
    ["b", "/v3/cluster/member/remove", { ID: "99" }],
  ]);
});

test("the API server's certificate on a Node is read for its expiry", async () => {
  const { access, place } = await stage();
  const expiry = await access.certificateExpiry(place, "b", signal);
  expect(Math.abs((expiry ?? 0) - (now + lifetime))).toBeLessThan(60_000);
});
