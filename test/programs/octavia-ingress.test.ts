/**
 * `causeway run octavia-ingress` on a real kube-apiserver, as the ServiceAccount of its manifest, with the real CRDs of
 * the Gateway API.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import {
  createClient,
  getCondition,
  loadKubeconfig,
  Node,
  Secret,
  Service,
  type KubernetesClient,
  type KubeObject,
  type ResourceType,
} from "@causeway/kubernetes";
import { Gateway, GATEWAY_CONTROLLER, GatewayClass, HTTPRoute, Ingress, TLSRoute } from "@causeway/octavia-ingress";
import { connectCloud, type Cloud } from "@causeway/openstack";
import { startKubeApiserver, type KubeApiserver } from "../contracts/kubernetes/kube-apiserver.ts";
import { Stage } from "./keystone/stage.ts";
import { programs } from "./programs.ts";
import { execute, type RunningProgram } from "./run.ts";
import { administrator, kubeconfigOf } from "./servers.ts";

const RBAC = resolve(import.meta.dirname, "../../deploy/octavia-ingress/rbac.yaml");
const ACCOUNT = "system:serviceaccount:kube-system:octavia-ingress-controller";
const NAMESPACE = "default";
const API = "gateway.networking.k8s.io/v1";

describe("kube-apiserver with the ingress controller", () => {
  const { kubernetes, kubectls, gatewayApi } = programs();
  const reason = [kubernetes, gatewayApi].flatMap((place) => ("reason" in place ? place.reason : []))[0];
  if (reason !== undefined || "reason" in gatewayApi) {
    test.skip(`Ingresses and Gateways (${reason})`);
    return;
  }
  let stage: Stage;
  let server: KubeApiserver;
  let client: KubernetesClient;
  let cloud: Cloud;
  let running: RunningProgram;
  let admin: string;

  beforeAll(async () => {
    stage = await Stage.start();
    cloud = connectCloud(stage.config());
    const rules = [{ level: "Metadata", users: [ACCOUNT], omitStages: ["RequestReceived"] }];
    const policy = JSON.stringify({ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules });
    // The last of two flags counts.
    server = await startKubeApiserver({ flags: [`--audit-policy-file=${stage.write("audit.json", policy)}`] });
    const text = await administrator(server);
    admin = stage.write("admin.kubeconfig", text);
    client = createClient(loadKubeconfig({ text }));
    await kubectl("apply", "-f", RBAC);
    await kubectl("apply", "--server-side", "-f", join(gatewayApi.dir, "standard"));
    await furnish();
    running = await start();
  });
  afterAll(async () => {
    await client?.close();
    await cloud?.close();
    await stage?.close();
    await server?.close();
  });

  async function kubectl(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await execute(kubectls[0] ?? "kubectl", ["--kubeconfig", admin, ...args]);
    expect(stderr + (code === 0 ? "" : stdout)).not.toContain("rror");
    expect(code).toBe(0);
    return stdout.trim();
  }

  /** Two nodes, a Service with a node port, a certificate, a class. */
  async function furnish(): Promise<void> {
    for (const i of [0, 1]) {
      const name = `node-${i}`;
      await client.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name }, spec: {} });
      const conditions = [{ type: "Ready", status: "True", reason: "Test", message: "" }];
      const body = { status: { addresses: [{ type: "InternalIP", address: `10.88.0.${10 + i}` }], conditions } };
      await client.patch(Node, { namespace: "", name }, { type: "merge", body }, { subresource: "status" });
      await client.patch(Node, { namespace: "", name }, { type: "merge", body: { spec: { taints: null } } });
    }
    await client.create(Service, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web", namespace: NAMESPACE },
      spec: { type: "NodePort", ports: [{ name: "http", port: 80, protocol: "TCP" }] },
    });
    const lifetime = 86_400_000;
    const authority = await createAuthority({ commonName: "ca", lifetime });
    const pair = await issueCertificate(authority, {
      commonName: "a.example",
      dnsNames: ["a.example"],
      usages: ["server"],
      lifetime,
    });
    await client.create(Secret, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "cert", namespace: NAMESPACE },
      type: "kubernetes.io/tls",
      stringData: { "tls.crt": pair.certificate, "tls.key": pair.key },
    });
    const spec = { controllerName: GATEWAY_CONTROLLER };
    await client.create(GatewayClass, { apiVersion: API, kind: "GatewayClass", metadata: { name: "octavia" }, spec });
  }

  /** The program, as its ServiceAccount, elected by a Lease, on a subnet of the simulated cloud. */
  async function start(): Promise<RunningProgram> {
    const token = await kubectl("create", "token", "octavia-ingress-controller", "-n", "kube-system");
    const kubeconfig = stage.write("ingress.kubeconfig", kubeconfigOf({ url: server.url, ca: server.ca }, { token }));
    const network = await cloud.network.networks.create({ name: "ingress" });
    const body = { name: "ingress", network_id: network.id, ip_version: 4 as const, cidr: "10.88.0.0/24" };
    const subnet = await cloud.network.subnets.create(body);
    const config = {
      "cluster-name": "real",
      kubernetes: { kubeconfig },
      openstack: { "use-clouds": true, "clouds-file": join(stage.dir, "clouds.yaml"), cloud: "simulator" },
      octavia: { "subnet-id": subnet.id, "manage-security-groups": true },
    };
    return stage.run("run", "octavia-ingress", "--config", stage.write("ingress.yaml", stringify(config)), "--debug");
  }

  async function until<T>(what: string, check: () => Promise<T | undefined | false>): Promise<T> {
    for (const end = Date.now() + 110_000; ;) {
      const found = await check();
      if (found !== undefined && found !== false) return found;
      if (Date.now() > end) throw new Error(`no ${what}; the program printed:\n${running.output().slice(-4000)}`);
      await new Promise((done) => setTimeout(done, 100));
    }
  }

  /** What is left in the cloud, by name. */
  async function left(): Promise<string[]> {
    const { loadBalancing, network, keyManager } = cloud;
    const groups = (await network.securityGroups.all()).filter(({ name }) => name !== "default");
    const lists = [await loadBalancing.loadBalancers.all(), await keyManager.secrets.all(), groups];
    return lists.flat().map(({ name }) => name ?? "");
  }

  const gone = (type: ResourceType<KubeObject>, name: string): Promise<boolean> =>
    until(`deletion of ${name}`, async () => !(await client.find(type, { namespace: NAMESPACE, name })));

  test("brings an Ingress with TLS to its address and deletes it without a trace", async () => {
    const backend = { service: { name: "web", port: { number: 80 } } };
    const http = { paths: [{ path: "/", pathType: "Prefix" as const, backend }] };
    await client.create(Ingress, {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name: "web", namespace: NAMESPACE, annotations: { "kubernetes.io/ingress.class": "openstack" } },
      spec: { rules: [{ host: "a.example", http }], tls: [{ hosts: ["a.example"], secretName: "cert" }] },
    });
    const key = { namespace: NAMESPACE, name: "web" };
    const address = await until("address of the Ingress", async () => {
      return (await client.get(Ingress, key)).status?.loadBalancer?.ingress?.[0]?.ip;
    });
    await until("security group", async () => (await left()).length === 3);
    const name = "kube_ingress_real_default_web";
    const [lb] = await cloud.loadBalancing.loadBalancers.all({ name });
    expect(lb?.vip_address).toBe(address);
    const { spec } = await client.get(Service, key);
    const members = await cloud.loadBalancing.members(lb?.pools[0]?.id ?? "").all();
    expect(members.map(({ protocol_port: port }) => port)).toEqual(members.map(() => spec.ports?.[0]?.nodePort));
    expect(members.map(({ address: at }) => at).sort()).toEqual(["10.88.0.10", "10.88.0.11"]);
    const file = join(stage.dir, "ingress.yaml");
    const planned = stage.run("plan", "ingress", "default/web", "--config", file, "--detailed-exitcode");
    expect(await planned.ended).toMatchObject({ code: 0, stdout: expect.stringContaining("nothing to do") });
    const paths = [...http.paths, { ...http.paths[0], path: "/more" }];
    await running.stop();
    await client.patch(Ingress, key, {
      type: "merge",
      body: { spec: { rules: [{ host: "a.example", http: { paths } }] } },
    });
    const more = stage.run("plan", "ingress", "web", "--config", file, "--detailed-exitcode", "-o", "json");
    const { code, stdout } = await more.ended;
    expect(code).toBe(3);
    const { rounds } = JSON.parse(stdout) as { rounds: { step: { type: string } }[][] };
    expect(rounds.flat().map(({ step }) => step.type)[0]).toBe("create-policy");
    expect((await stage.run("plan", "ingress", "none", "--config", file).ended).code).toBe(2);
    running = stage.run("run", "octavia-ingress", "--config", file, "--debug");
    await client.delete(Ingress, key);
    await gone(Ingress, "web");
    expect(await left()).toEqual([]);
  });

  test("programs a Gateway with the CRDs of the standard channel and deletes it without a trace", async () => {
    const from = { certificateRefs: [{ name: "cert" }] };
    await client.create(Gateway, {
      apiVersion: API,
      kind: "Gateway",
      metadata: { name: "edge", namespace: NAMESPACE },
      spec: {
        gatewayClassName: "octavia",
        listeners: [
          { name: "http", port: 80, protocol: "HTTP" },
          { name: "https", port: 443, protocol: "HTTPS", hostname: "a.example", tls: { mode: "Terminate", ...from } },
          { name: "tls", port: 8443, protocol: "TLS", hostname: "b.example", tls: { mode: "Passthrough" } },
        ],
      },
    });
    const rules = [{ backendRefs: [{ name: "web", port: 80 }] }];
    for (const [type, name, sectionName, hostname] of [
      [HTTPRoute, "pages", "http", "a.example"],
      [TLSRoute, "through", "tls", "b.example"],
    ] as const)
      await client.create(type, {
        apiVersion: API,
        kind: type.kind,
        metadata: { name, namespace: NAMESPACE },
        spec: { parentRefs: [{ name: "edge", sectionName }], hostnames: [hostname], rules },
      });
    const edge = await until("programmed Gateway", async () => {
      const found = await client.get(Gateway, { namespace: NAMESPACE, name: "edge" });
      const routes = (found.status?.listeners ?? []).map(({ attachedRoutes }) => attachedRoutes);
      const ready = getCondition(found.status?.conditions, "Programmed")?.status === "True";
      return ready && JSON.stringify(routes) === "[1,0,1]" && found;
    });
    expect(edge.status?.addresses).toHaveLength(1);
    for (const [type, name] of [[HTTPRoute, "pages"] as const, [TLSRoute, "through"] as const]) {
      const { status } = await client.get(type, { namespace: NAMESPACE, name });
      expect(getCondition(status?.parents[0]?.conditions, "Accepted")?.status).toBe("True");
    }
    await client.delete(Gateway, { namespace: NAMESPACE, name: "edge" });
    await gone(Gateway, "edge");
    expect(await left()).toEqual([]);
    for (const [type, name] of [[HTTPRoute, "pages"] as const, [TLSRoute, "through"] as const]) {
      await until(`status of ${name} without the Gateway`, async () => {
        const { status } = await client.get(type, { namespace: NAMESPACE, name });
        return (status?.parents ?? []).length === 0;
      });
    }
  });

  test("is refused nothing with the rules of its manifest", async () => {
    await running.stop();
    const audited = readFileSync(server.auditLog, "utf8")
      .split("\n")
      .filter((line) => line.includes(ACCOUNT))
      .map((line) => JSON.parse(line) as { requestURI: string; verb: string; responseStatus?: { code?: number } });
    expect(audited.length).toBeGreaterThan(0);
    expect(audited.filter(({ responseStatus }) => responseStatus?.code === 403)).toEqual([]);
    expect(running.output()).not.toMatch(/forbidden/i);
  });
});
