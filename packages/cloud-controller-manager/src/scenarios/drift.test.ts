import { describe, expect, test } from "vitest";
import { os, ownerOf, pause, setStage } from "./stage.ts";

const stage = setStage(2);

/** Octavia stamps its objects with whole seconds: what is changed twice within one seems the same. */
const anotherSecond = () => stage().skip(1_100);

/** A Service with an amphora that uses whatever can be changed by hand. */
async function served(annotations: Record<string, string> = {}, spec = {}) {
  const { w, run, work } = stage();
  run({ provider: "amphora", createMonitor: true });
  await w.createService("web", spec, annotations);
  const service = await w.served("web");
  const { listeners, pools, healthMonitors, loadBalancers } = w.cloud.loadBalancing;
  await w.settled("its monitor", async () => (await healthMonitors.all()).length === 1);
  anotherSecond();
  work();
  const [listener] = await listeners.all();
  const [pool] = await pools.all();
  const [monitor] = await healthMonitors.all();
  const [lb] = await w.loadBalancers();
  const ids = { listener: listener?.id ?? "", pool: pool?.id ?? "", monitor: monitor?.id ?? "", lb: lb?.id ?? "" };
  return { w, work, service, ids, listeners, pools, healthMonitors, loadBalancers };
}

describe("a manual change is reverted within one list interval, and an unchanged Service costs no call for single objects", () => {
  test("a monitor's settings", async () => {
    const { w, ids, healthMonitors, work } = await served({ [os("health-monitor-delay")]: "7" });
    await healthMonitors.update(ids.monitor, { delay: 60, max_retries: 9, admin_state_up: false });
    await w.settled("the monitor", async () => {
      const now = await healthMonitors.get(ids.monitor);
      return now.delay === 7 && now.max_retries === 1 && now.admin_state_up;
    });
    await pause(700);
    work();
    await pause(1_000);
    expect(work()).toEqual([]);
  });

  test("what an HTTP monitor asks for", async () => {
    const { w, ids, healthMonitors } = await served({}, { externalTrafficPolicy: "Local" });
    await healthMonitors.update(ids.monitor, { url_path: "/", expected_codes: "200-299" });
    await w.settled("the monitor", async () => {
      const now = await healthMonitors.get(ids.monitor);
      return now.url_path === "/healthz" && now.expected_codes === "200";
    });
  });

  test("a member's weight, and one that is switched off", async () => {
    const { w, ids } = await served();
    const members = w.cloud.loadBalancing.members(ids.pool);
    const [one, other] = await members.all();
    await members.update(one?.id ?? "", { weight: 0 });
    await w.settled("the weight", async () => (await members.all()).every((m) => m.weight === 1));
    anotherSecond();
    await members.update(other?.id ?? "", { admin_state_up: false });
    await w.settled("it is on", async () => (await members.all()).every((m) => m.admin_state_up));
  });

  test("a listener's limit, timeouts, allowed CIDRs, headers, tags and state", async () => {
    const annotations = {
      [os("x-forwarded-for")]: "true",
      [os("connection-limit")]: "50",
      [os("timeout-client-data")]: "70000",
    };
    const { w, ids, listeners } = await served(annotations, { loadBalancerSourceRanges: ["192.0.2.0/24"] });
    const wanted = await listeners.get(ids.listener);
    const kept = [
      "connection_limit",
      "allowed_cidrs",
      "insert_headers",
      "tags",
      "admin_state_up",
      "timeout_client_data",
    ] as const;
    const part = (listener: typeof wanted) => JSON.stringify(kept.map((field) => listener[field]));
    for (const change of [
      { connection_limit: 5 },
      { timeout_client_data: 1_000 },
      { allowed_cidrs: ["192.0.2.0/24", "203.0.113.0/24"] },
      { insert_headers: {} },
      { tags: [] },
      { admin_state_up: false },
    ]) {
      await listeners.update(ids.listener, change);
      await w.settled(`the listener after ${JSON.stringify(change)}`, async () => {
        return part(await listeners.get(ids.listener)) === part(wanted);
      });
    }
  });

  test("a pool's method and persistence, and the load balancer's tags and state", async () => {
    const { w, ids, pools, loadBalancers } = await served({}, { sessionAffinity: "ClientIP" });
    await pools.update(ids.pool, { lb_algorithm: "LEAST_CONNECTIONS", session_persistence: null });
    await w.settled("the pool", async () => {
      const now = await pools.get(ids.pool);
      return now.lb_algorithm === "ROUND_ROBIN" && now.session_persistence?.type === "SOURCE_IP";
    });
    await loadBalancers.update(ids.lb, { tags: ["theirs"], admin_state_up: false });
    const now = await w.settled("the load balancer", (lb) => lb.admin_state_up && lb.tags.length === 3);
    expect(now.tags.toSorted()).toEqual([await ownerOf(w, "web"), "kube_service_c_default_web", "theirs"]);
  });

  test("the floating IP: detached it is attached again; given to another port it is released, and another is published", async () => {
    const { w, service, ids } = await served();
    const { floatingIps, ports } = w.cloud.network;
    const address = service.status?.loadBalancer?.ingress?.[0]?.ip;
    const [ip] = (await floatingIps.all()).filter((each) => each.floating_ip_address === address);
    const vip = (await w.loadBalancers()).find((lb) => lb.id === ids.lb)?.vip_port_id;
    const servedBy = async () => (await floatingIps.all()).find((each) => each.port_id === vip)?.floating_ip_address;
    await floatingIps.update(ip?.id ?? "", { port_id: null });
    await w.until("it is back", async () => ((await servedBy()) === address ? true : undefined));
    const port = (await ports.all()).find((each) => each.device_id === w.infrastructure.servers[0]?.id);
    await floatingIps.update(ip?.id ?? "", { port_id: port?.id ?? "" });
    const other = await w.until("another", servedBy);
    expect(other).not.toBe(address);
    await w.until("it is published", async () =>
      (await w.service("web")).status?.loadBalancer?.ingress?.[0]?.ip === other ? true : undefined,
    );
    expect((await floatingIps.get(ip?.id ?? "")).port_id).toBe(port?.id);
    await floatingIps.delete(ip?.id ?? "");
  });
});
