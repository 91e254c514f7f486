/**
 * A cloud on one machine whose servers are network namespaces and respond to pings: the canary, phase by phase, and
 * what the programs in front of the APIs report meanwhile.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { canaryRun, withoutEchoes } from "./canary.ts";
import { administrator, clientOf } from "./client.ts";
import { podsOf, serviceAddress, statusOf } from "./cloud.ts";
import { record } from "./figures.ts";
import { TIMEOUT, startRig, volumes, type Rig } from "./rig.ts";
import { makeProject, OUTSIDE, serviceCloud } from "./service-cloud.ts";
import { namesNow } from "./servers.ts";
import { restarted, seconds, whenReady } from "./whole-cloud.ts";

const SERVICES = ["glance", "placement", "ovn", "neutron", "nova"] as const;
const MONITORED = { monitoring: { namespace: "monitoring" } };
const CANARY = {
  image: "cirros",
  flavor: "m1.small",
  everySeconds: 60,
  timeoutSeconds: 150,
  external: { network: OUTSIDE.network, cidr: OUTSIDE.cidr },
};

describe("a cloud of real processes whose servers respond to pings", () => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await startRig();
    const began = Date.now();
    rig.apply(volumes());
    rig.apply(serviceCloud(MONITORED, SERVICES));
    await whenReady(rig);
    record("from nothing to a cloud with Nova and Neutron, one machine, metrics of APIs", {
      secondsToReady: seconds(Date.now() - began),
      components: statusOf(rig).components?.length ?? 0,
      restarts: restarted(rig).length,
    });
    await makeProject(rig, clientOf(rig, administrator(rig)), ["member"]);
  });

  afterAll(async () => {
    await rig?.close();
  });

  test("the canary boots a server, pings its floating IP and leaves nothing", async () => {
    rig.apply(serviceCloud({ ...MONITORED, canary: CANARY }, SERVICES));
    const run = await canaryRun(rig, ({ runs }) => runs > 0);
    const { servers, networks } = await namesNow(rig);
    const { runs } = await canaryRun(rig, () => true);
    record("a run of the canary, with a ping of its server's floating IP", run.seconds);
    expect(run.failed).toEqual([]);
    expect(run.seconds["ping"]).toBeGreaterThan(0);
    // Unless the next one began meanwhile.
    if (runs === run.runs) expect([...servers, ...networks]).not.toContain("causeway-canary");
  });

  test("a canary without an echo names the ping, and none once there is one again", async () => {
    const end = await withoutEchoes(rig, OUTSIDE.cidr);
    const run = await canaryRun(rig, ({ failed }) => failed.length > 0);
    expect(run.failed).toEqual(["ping"]);
    await end();
    // The run after it began before that.
    expect((await canaryRun(rig, ({ runs }) => runs >= run.runs + 2)).failed).toEqual([]);
  });

  test.each([
    ["nova-api", 8774],
    ["glance-api", 9292],
    ["keystone-api", 5000],
  ] as const)("%s reports how long its responses took, and a client that it dropped", async (component, port) => {
    const [pod = ""] = podsOf(rig, component);
    const { status } = rig.get<{ status: { podIP: string } }>("pod", pod);
    const read = () => rig.inNetwork("curl", "-sf", "-m", "10", `http://${status.podIP}:9478/metrics`);
    const value = (text: string, metric: string) =>
      [...text.matchAll(new RegExp(`^${metric}\\{[^}]*component="${component}"[^}]*\\} (\\S+)$`, "gm"))].reduce(
        (sum, [, each]) => sum + Number(each),
        0,
      );
    const before = await read();
    expect(value(before, "causeway_openstack_api_request_duration_seconds_count")).toBeGreaterThan(0);
    // It never ends its request, and sees the end of its connection.
    const slow = `exec 3<>/dev/tcp/${serviceAddress(rig, component)}/${port}; printf 'GET / HTTP/1.1\\r\\n' >&3; cat <&3 >/dev/null`;
    await rig.inNetwork("timeout", "120", "bash", "-c", slow);
    const dropped = "causeway_openstack_api_dropped_total";
    await eventually(TIMEOUT, async () => value(await read(), dropped) > value(before, dropped));
  });

  test("restarts no container", () => {
    expect(restarted(rig)).toEqual([]);
  });
});
