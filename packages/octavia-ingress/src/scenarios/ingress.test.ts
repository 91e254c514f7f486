import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import { Service } from "@causeway/kubernetes";
import { annotation, FINALIZER } from "../names.ts";
import { Ingress } from "../objects/ingress.ts";
import { IngressWorld, to } from "../testing/world.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
const NAME = "kube_ingress_c_default_web";
let w: IngressWorld;

beforeAll(async () => {
  w = await IngressWorld.start();
  for (const [i, name] of ["one", "two", "three"].entries()) await w.service(name, 30_001 + i);
});
afterEach(async () => {
  await w.clear();
  await w.stopAll();
  expect(await w.left()).toEqual([]);
});
afterAll(() => w.close());

/** As Octavia writes the time. */
const now = (): string => new Date().toISOString().slice(0, 19);
const both = (port: number): string => `10.88.0.10:${port},10.88.0.11:${port}`;
const paths = (...list: ReturnType<typeof to>[]) => ({ rules: [{ host: "a.example", http: { paths: list } }] });

describe("an Ingress on a load balancer of its own", () => {
  test("is created by one POST, its most specific path first, and publishes its VIP", async () => {
    w.run();
    w.calls();
    await w.ingress("web", {
      defaultBackend: { service: { name: "three", port: { name: "http" } } },
      ...paths(to("one"), to("two", "/foo")),
    });
    const address = await w.address("web");
    const [lb] = await w.cloud.loadBalancing.loadBalancers.all({ name: NAME });
    expect(address).toBe(lb?.vip_address);
    expect(lb?.description).toBe("Kubernetes ingress web in namespace default from cluster c");
    expect(await w.routes(NAME)).toEqual([
      `^/foo(/.*)?$ ^a\\.example(:80)?$ -> ${both(30_002)}`,
      `/ ^a\\.example(:80)?$ -> ${both(30_001)}`,
    ]);
    const [listener] = await w.cloud.loadBalancing.listeners.all({ name: NAME });
    const members = await w.cloud.loadBalancing.members(listener?.default_pool_id ?? "").all();
    expect(members.map((m) => m.protocol_port)).toEqual([30_003, 30_003]);
    expect(w.calls().filter((call) => !call.startsWith("GET"))).toEqual(["POST /loadbalancers"]);
    const ingress = await w.client.get(Ingress, { namespace: "default", name: "web" });
    expect(ingress.metadata.finalizers).toContain(FINALIZER);
    expect(await w.until("the event", async () => (await w.events({ name: "web" }, "Updated"))[0])).toBe(
      `Successfully associated IP address ${address} to ingress default/web`,
    );
  });

  test("gets a path by a pool, its members, a policy and its rules; and loses it in the other order", async () => {
    w.run();
    await w.ingress("web", paths(to("one")));
    await w.address("web");
    w.calls();
    await w.change("web", { spec: paths(to("one"), to("two", "/foo")) });
    const wanted = [`^/foo(/.*)?$ ^a\\.example(:80)?$ -> ${both(30_002)}`, `/ ^a\\.example(:80)?$ -> ${both(30_001)}`];
    await w.until("the path", async () => JSON.stringify(await w.routes(NAME)) === JSON.stringify(wanted));
    const policies = async () => (await w.cloud.loadBalancing.l7Policies.all()).every((p) => p.admin_state_up);
    await w.until("the policy to be on", policies);
    expect(w.calls().filter((call) => !call.startsWith("GET"))).toEqual([
      "POST /pools",
      "PUT /pools/ID/members",
      "POST /l7policies",
      "POST /l7policies/ID/rules",
      "POST /l7policies/ID/rules",
      "PUT /l7policies/ID",
    ]);
    await w.change("web", { spec: paths(to("one")) });
    await w.until("one pool", async () => (await w.cloud.loadBalancing.pools.all()).length === 1);
    expect(w.calls().filter((call) => !call.startsWith("GET"))).toEqual(["DELETE /l7policies/ID", "DELETE /pools/ID"]);
  });

  test("costs no call of an object while nothing changes", async () => {
    w.run();
    await w.ingress("web", paths(to("one"), to("two", "/foo")));
    await w.address("web");
    await new Promise((done) => setTimeout(done, 500));
    w.calls();
    await new Promise((done) => setTimeout(done, 1_500));
    expect(w.calls()).toEqual([]);
  });

  test("costs a restarted process one list of each kind, however many Ingresses there are", async () => {
    const names = Array.from({ length: 12 }, (_, i) => `many-${i}`);
    const stop = w.run();
    for (const name of names) await w.ingress(name, paths(to("one"), to("two", "/foo")));
    for (const name of names) await w.address(name);
    await w.until("the record of their pools", async () => (await w.recordedPools()) === 2 * names.length);
    await stop();
    w.allCalls();
    w.run();
    await w.ingress("web", paths(to("one")));
    await w.address("web");
    const first = w.allCalls().filter((call) => !call.startsWith("POST /loadbalancers"));
    const count = (call: string): number => first.filter((each) => each === call).length;
    expect(count("GET /pools/ID/members")).toBe(0);
    expect(count("GET /l7policies")).toBeLessThanOrEqual(2);
    for (const kind of ["/secrets", "/security-groups"]) expect(count(`GET ${kind}`)).toBe(1);
  });

  test("is repaired after a restart, whatever changed while no process ran", async () => {
    const stop = w.run();
    await w.ingress("web", paths(to("one"), to("two", "/foo")));
    await w.address("web");
    await w.until("the record of its pools", async () => (await w.recordedPools()) === 2);
    await stop();
    const wanted = await w.routes(NAME);
    const { loadBalancing } = w.cloud;
    const [first, second] = await loadBalancing.pools.all();
    const [gone] = await loadBalancing.members(first?.id ?? "").all();
    await loadBalancing.members(first?.id ?? "").delete(gone?.id ?? "");
    const [moved] = await loadBalancing.members(second?.id ?? "").all();
    await w.until("the next second", async () => (await loadBalancing.pools.all())[1]?.updated_at !== now());
    await loadBalancing.members(second?.id ?? "").update(moved?.id ?? "", { weight: 0 });
    w.run();
    await w.until("the members", async () => JSON.stringify(await w.routes(NAME)) === JSON.stringify(wanted));
    await w.until("the weight", async () =>
      (await loadBalancing.members(second?.id ?? "").all()).every(({ weight }) => weight === 1),
    );
  });

  test("has a floating IP where it is not internal, and keeps a user's", async () => {
    w.run();
    await w.ingress("web", paths(to("one")), { annotations: { [annotation.internal]: "false" } });
    const first = await w.address("web");
    const [ip] = await w.cloud.network.floatingIps.all({ floating_ip_address: first });
    expect(ip?.description).toBe("Floating IP for Kubernetes ingress web in namespace default from cluster c");
    const { floatingIps } = w.cloud.network;
    const description = "Floating IP for Kubernetes ingress web in namespace other from cluster c";
    const mine = await floatingIps.create({ floating_network_id: w.externalId, description });
    const { id, floating_ip_address: later } = mine;
    await w.change("web", { metadata: { annotations: { [annotation.floatingIp]: later } } });
    await w.until("the event", async () => (await w.events({ name: "web" }, "Failed")).some((m) => m.includes(later)));
    await floatingIps.update(id, { description: "mine" });
    await w.until("my address", async () => (await w.address("web")) === mine.floating_ip_address);
    expect(await w.cloud.network.floatingIps.find(ip?.id ?? "")).toBeUndefined();
    await w.clear();
    expect((await w.cloud.network.floatingIps.get(mine.id)).port_id).toBeNull();
    await w.cloud.network.floatingIps.delete(mine.id);
  });

  test("keeps a user's floating IP while deletions are held, and says so", async () => {
    let isHeld = true;
    w.run({}, { holdDeletions: () => isHeld });
    const { floatingIps } = w.cloud.network;
    const { id, floating_ip_address: mine } = await floatingIps.create({
      floating_network_id: w.externalId,
      description: "mine",
    });
    const annotations = { [annotation.internal]: "false", [annotation.floatingIp]: mine };
    await w.ingress("web", paths(to("one")), { annotations });
    await w.until("my address", async () => (await w.address("web")) === mine);
    await w.client.delete(Ingress, { namespace: "default", name: "web" });
    await w.until("the event", async () =>
      (await w.events({ name: "web" }, "Failed")).some((m) => m.includes("(CLOUD_DELETIONS_HELD)")),
    );
    expect((await floatingIps.get(id)).port_id).not.toBeNull();
    isHeld = false;
    await w.clear();
    expect((await floatingIps.get(id)).port_id).toBeNull();
    await floatingIps.delete(id);
  });

  test("ends TLS with the Secret's certificate, and with its successor when the Secret changes", async () => {
    const day = 86_400_000;
    const authority = await createAuthority({ commonName: "ca", lifetime: day });
    const issue = () =>
      issueCertificate(authority, {
        commonName: "a.example",
        dnsNames: ["a.example"],
        usages: ["server"],
        lifetime: day,
      });
    await w.secret("cert", await issue());
    w.run();
    await w.ingress("web", { ...paths(to("one")), tls: [{ hosts: ["a.example"], secretName: "cert" }] });
    await w.address("web");
    const listener = async () => (await w.cloud.loadBalancing.listeners.all({ name: NAME }))[0];
    const before = await listener();
    expect(before).toMatchObject({ protocol: "TERMINATED_HTTPS", protocol_port: 443 });
    const [stored] = await w.cloud.keyManager.secrets.all();
    expect(stored?.name).toMatch(/^kube_ingress_c_default_web_cert_[0-9a-f]{16}$/);
    expect(before?.sni_container_refs).toEqual([stored?.secret_ref]);
    w.calls();
    await w.secret("cert", await issue());
    await w.until("one other secret", async () => {
      const all = await w.cloud.keyManager.secrets.all();
      return all.length === 1 && all[0]?.secret_ref !== stored?.secret_ref;
    });
    const after = await listener();
    expect(after?.id).toBe(before?.id);
    expect(after?.default_tls_container_ref).toBe((await w.cloud.keyManager.secrets.all())[0]?.secret_ref);
    expect(w.calls().filter((call) => !call.startsWith("GET"))).toEqual([
      "POST /secrets",
      "PUT /listeners/ID",
      "DELETE /secrets/ID",
    ]);
  });

  test("is not served in the clear when its Secret is missing, and says so", async () => {
    w.run();
    await w.ingress("web", { ...paths(to("one")), tls: [{ secretName: "absent" }] });
    const messages = await w.until("the event", async () => {
      const found = await w.events({ name: "web" }, "Failed");
      return found.some((message) => message.includes("Secret absent does not exist")) && found;
    });
    expect(messages.length).toBeGreaterThan(0);
    expect(await w.left()).toEqual([]);
  });

  test("answers 503 for a Service that does not exist, until it exists", async () => {
    w.run();
    await w.ingress("web", paths(to("late")));
    await w.address("web");
    expect(await w.routes(NAME)).toEqual([String.raw`/ ^a\.example(:80)?$ -> `]);
    await w.service("late", 30_009);
    await w.until("members", async () => (await w.routes(NAME))[0]?.endsWith(both(30_009)));
    await w.client.delete(Service, { namespace: "default", name: "late" });
    await w.until("no members", async () => (await w.routes(NAME))[0]?.endsWith("-> "));
  });

  test("takes over a load balancer of upstream's controller, and changes only what differs", async () => {
    const { loadBalancing } = w.cloud;
    const pool = "b3f2eb5ea9f2f9b9b5a2f1b6a0a5f3e5d0f5a8ffb3d1c4f7d7e8c5b2a1908765";
    const made = await loadBalancing.loadBalancers.create({
      name: NAME,
      vip_subnet_id: w.subnetId,
      pools: [],
      listeners: [],
    });
    const active = () =>
      w.until("ACTIVE", async () => (await loadBalancing.loadBalancers.get(made.id)).provisioning_status === "ACTIVE");
    await active();
    const listener = await loadBalancing.listeners.create({
      loadbalancer_id: made.id,
      name: NAME,
      protocol: "HTTP",
      protocol_port: 80,
      allowed_cidrs: ["0.0.0.0/0"],
    });
    await active();
    await loadBalancing.pools.create({
      loadbalancer_id: made.id,
      name: pool,
      protocol: "HTTP",
      lb_algorithm: "ROUND_ROBIN",
    });
    await active();
    w.run();
    await w.ingress("web", paths(to("one")));
    await w.address("web");
    await w.until("the stray pool to go", async () => (await loadBalancing.pools.all({ name: pool })).length === 0);
    const lb = await loadBalancing.loadBalancers.get(made.id);
    expect(lb.tags).toHaveLength(1);
    expect(lb.listeners).toEqual([{ id: listener.id }]);
    expect(await w.routes(NAME)).toEqual([String.raw`/ ^a\.example(:80)?$ -> ${both(30_001)}`]);
  });

  test("leaves a load balancer alone whose tag names another owner", async () => {
    const { loadBalancing } = w.cloud;
    const tags = ["k8s-ingress-owner=c/another"];
    const made = await loadBalancing.loadBalancers.create({ name: NAME, vip_subnet_id: w.subnetId, tags });
    w.run();
    await w.ingress("web", paths(to("one")));
    await w.until("the event", async () =>
      (await w.events({ name: "web" }, "Failed")).some((m) => m.includes("another owner")),
    );
    await w.clear();
    expect((await loadBalancing.loadBalancers.get(made.id)).tags).toEqual(tags);
    await loadBalancing.deleteLoadBalancer(made.id, { cascade: true });
    await w.until("it to go", async () => (await w.left()).length === 0);
  });

  test("is left alone without the annotation and the class, and released when it loses the annotation", async () => {
    w.run();
    await w.ingress("web", paths(to("one")));
    await w.address("web");
    await w.change("web", { metadata: { annotations: { "kubernetes.io/ingress.class": "nginx" } } });
    await w.until("nothing left", async () => (await w.left()).length === 0);
    const ingress = await w.until("no finalizer", async () => {
      const found = await w.client.get(Ingress, { namespace: "default", name: "web" });
      return found.metadata.finalizers === undefined && found;
    });
    expect(ingress.status?.loadBalancer?.ingress ?? []).toEqual([]);
  });
});
