/**
 * A whole cloud of real processes, from nothing to a server that is ACTIVE on an OVN network; then what happens to it:
 * APIs that are rolled, a broker and a database that are away, a compute node that is drained and one that is lost.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { adminToken, deployment, restarts, serviceAddress, statusOf } from "./cloud.ts";
import { freeze, jsonLines } from "./outage.ts";
import { PATIENCE, startRig, volumes, type Rig } from "./rig.ts";
import { bootServer, computesUp, serverNow } from "./servers.ts";
import { roll, underLoad } from "./under-load.ts";

const SERVICES = ["glance", "placement", "ovn", "neutron", "nova"] as const;
/** Nova's own driver without machines: everything but the hypervisor is real. It plugs no interface. */
const fake = {
  nova: [
    { section: "DEFAULT", option: "compute_driver", value: "fake.SmallFakeDriver" },
    { section: "DEFAULT", option: "vif_plugging_is_fatal", value: "false" },
    { section: "DEFAULT", option: "vif_plugging_timeout", value: "0" },
    { section: "compute", option: "live_migration_wait_for_vif_plug", value: "false" },
    { section: "conductor", option: "workers", value: "1" },
    { section: "scheduler", option: "workers", value: "1" },
  ],
};
/** An option that changes nothing that is asked here. */
const unused = (option: string, value: string) => ({ section: "DEFAULT", option, value });
const [CONTROL, COMPUTE] = ["openstack-1", "openstack-2"] as const;
const maintenance = { lostAfterSeconds: 60 };

describe("a cloud of real processes with Nova and Neutron", () => {
  let rig: Rig;
  const ready = () => eventually(PATIENCE, () => report(rig) === "Ready");
  const cloud = (options: Options = fake) => deployment(SERVICES, { services: configured(options), maintenance });
  /** Containers that started again since an earlier count. */
  const restarted = (before: Record<string, number> = {}) =>
    Object.entries(restarts(rig)).filter(([name, count]) => count > (before[name] ?? 0));

  beforeAll(async () => {
    rig = await startRig({ machines: 2 });
  });

  afterAll(async () => {
    await rig?.close();
  });

  test("brings a server to ACTIVE on an OVN network, from nothing, with no restart of any container", async () => {
    const began = Date.now();
    rig.apply(volumes());
    rig.apply(cloud());
    await ready();
    const readyAfter = Date.now() - began;
    const server = await bootServer(rig, "first");
    console.log(`ready after ${seconds(readyAfter)} s, a server ACTIVE after ${seconds(Date.now() - began)} s`);
    expect(server.status).toBe("ACTIVE");
    expect(restarted()).toEqual([]);
    const ports = ["ovn-nbctl", "--no-leader-only", "lsp-list", `neutron-${server.network}`];
    expect(await rig.inContainer("cloud-ovn-nb-0", "ovn-nb", ...ports)).toContain(server.port);
    expect(await computesUp(rig)).toEqual(expect.arrayContaining([CONTROL, COMPUTE]));
  });

  test("writes every line of the logs of OpenStack's services as one JSON object", () => {
    expect(jsonLines(rig, ["glance", "placement", "neutron", "nova", "keystone"])).toEqual([]);
  });

  test("moves the servers of a compute node that is drained by live migration, and takes it back after it", async () => {
    const server = await bootServer(rig, "moved", COMPUTE);
    expect(server.status).toBe("ACTIVE");
    const began = Date.now();
    rig.kubectl("drain", COMPUTE, "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=2700s");
    console.log(`${COMPUTE} was drained in ${seconds(Date.now() - began)} s`);
    expect(await serverNow(rig, server.id)).toEqual({ status: "ACTIVE", host: CONTROL });
    rig.kubectl("uncordon", COMPUTE);
    await eventually(PATIENCE, async () => (await computesUp(rig)).includes(COMPUTE));
  });

  test.each([
    ["Glance", "glance-api", "9292/versions", { glance: [unused("limit_param_default", "26")] }],
    ["Neutron", "neutron-server", "9696/", { neutron: [unused("dhcp_lease_duration", "86401")] }],
  ] as const)("rolling the API of %s under 50 requests a second fails none of them", async (_, api, path, options) => {
    const url = `http://${serviceAddress(rig, api)}:${path}`;
    const result = await underLoad(rig, { url, perSecond: 50 }, [
      `${api} is rolled`,
      () => roll(rig, api, cloud({ ...fake, ...options })),
    ]);
    expect(result.examples).toEqual([]);
    expect(result.sent).toBeGreaterThan(500);
  });

  test.each([
    ["the broker", "rabbitmq", 300],
    ["the database", "mariadb", 120],
  ] as const)("restarts nothing while %s does not respond", async (_, component, away) => {
    const before = restarts(rig);
    const thaw = await freeze(rig, component);
    await new Promise((resolve) => setTimeout(resolve, away * 1000));
    await thaw();
    const back = Date.now();
    await ready();
    console.log(`all components were ready again ${seconds(Date.now() - back)} s after ${component} was back`);
    expect(restarted(before)).toEqual([]);
    await adminToken(rig);
    expect((await bootServer(rig, `after-${component}`)).status).toBe("ACTIVE");
  });

  test("evacuates a compute node that is lost only after it is marked as switched off", async () => {
    const server = await bootServer(rig, "lost", COMPUTE);
    expect(server.status).toBe("ACTIVE");
    await rig.machines[1]?.powerOff();
    const phase = () => statusOf(rig).maintenance?.find(({ node }) => node === COMPUTE)?.phase;
    await eventually(PATIENCE, () => phase() === "Unreachable");
    expect((await serverNow(rig, server.id)).host).toBe(COMPUTE);
    const began = Date.now();
    rig.kubectl("taint", "node", COMPUTE, "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute");
    await eventually(PATIENCE, async () => {
      const { status, host } = await serverNow(rig, server.id);
      return host === CONTROL && status === "ACTIVE";
    });
    console.log(`the server was on ${CONTROL} ${seconds(Date.now() - began)} s after the node was marked`);
  });
});

type Options = Readonly<Record<string, readonly object[]>>;
const seconds = (milliseconds: number) => Math.round(milliseconds / 1000);

/** The phase; what is not ready is printed when it changes, so that a run that stops says where. */
let said = "";
function report(rig: Rig): string {
  const { phase = "", ready, components = [] } = statusOf(rig);
  const open = components.filter(({ state }) => !["Ready", "Waiting"].includes(state));
  const text = `${ready ?? ""} ready; ${open.map(({ name, step, rootCause }) => `${name}: ${rootCause ?? step ?? ""}`).join("; ")}`;
  if (text !== said) console.log(`${new Date().toISOString()} ${(said = text)}`);
  return phase;
}

function configured(options: Options): object[] {
  const { spec } = deployment(SERVICES) as { spec: { services: { name: string }[] } };
  return spec.services.map((each) => (options[each.name] ? { ...each, configuration: options[each.name] } : each));
}
