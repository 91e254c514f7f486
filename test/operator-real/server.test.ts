/**
 * A whole cloud of real processes, from nothing to a server that is ACTIVE on an OVN network; then its broker and its
 * database are away.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { adminToken, deployment, restarts, statusOf } from "./cloud.ts";
import { bootServer, freeze, jsonLines } from "./outage.ts";
import { PATIENCE, startRig, volumes, type Rig } from "./rig.ts";

const SERVICES = ["glance", "placement", "ovn", "neutron", "nova"] as const;
/** Nova's own driver without machines: everything but the hypervisor is real. */
const fake = {
  nova: [
    { section: "DEFAULT", option: "compute_driver", value: "fake.SmallFakeDriver" },
    { section: "conductor", option: "workers", value: "1" },
    { section: "scheduler", option: "workers", value: "1" },
  ],
};

describe("a cloud of real processes with Nova and Neutron", () => {
  let rig: Rig;
  const ready = () => eventually(PATIENCE, () => report(rig) === "Ready");

  beforeAll(async () => {
    rig = await startRig();
  });

  afterAll(async () => {
    await rig?.close();
  });

  test("brings a server to ACTIVE on an OVN network, from nothing, with no restart of any container", async () => {
    const began = Date.now();
    rig.apply(volumes());
    rig.apply(deployment(SERVICES, { services: configured(fake) }));
    await ready();
    const readyAfter = Date.now() - began;
    const server = await bootServer(rig, "first");
    expect(server.status).toBe("ACTIVE");
    const seconds = (milliseconds: number) => Math.round(milliseconds / 1000);
    console.log(`ready after ${seconds(readyAfter)} s, a server ACTIVE after ${seconds(Date.now() - began)} s`);
    const counts = restarts(rig);
    expect(
      Object.entries(counts).filter(([, count]) => count > 0),
      "restarted",
    ).toEqual([]);
    const port = await rig.inContainer(
      "cloud-ovn-nb-0",
      "ovn-nb",
      "ovn-nbctl",
      "--no-leader-only",
      "lsp-list",
      `neutron-${server.network}`,
    );
    expect(port).toContain(server.port);
  });

  test("writes every line of its logs as one JSON object", () => {
    const wrong = jsonLines(rig, ["glance", "placement", "neutron", "nova", "keystone"]);
    expect(wrong).toEqual([]);
  });

  test.each([
    ["the broker", "rabbitmq", 300],
    ["the database", "mariadb", 120],
  ] as const)("restarts nothing while %s does not respond", async (_, component, seconds) => {
    const before = restarts(rig);
    const thaw = await freeze(rig, component);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    await thaw();
    const back = Date.now();
    await ready();
    console.log(
      `all components were ready again ${Math.round((Date.now() - back) / 1000)} s after ${component} was back`,
    );
    const own = Object.entries(restarts(rig)).filter(([name, count]) => count > (before[name] ?? 0));
    expect(own).toEqual([]);
    await adminToken(rig);
    expect((await bootServer(rig, `after-${component}`)).status).toBe("ACTIVE");
  });
});

/** The phase; what is not ready is printed when it changes, so that a run that stops says where. */
let said = "";
function report(rig: Rig): string {
  const { phase = "", ready, components = [] } = statusOf(rig);
  const open = components.filter(({ state }) => !["Ready", "Waiting"].includes(state));
  const text = `${ready ?? ""} ready; ${open.map(({ name, step, rootCause }) => `${name}: ${rootCause ?? step ?? ""}`).join("; ")}`;
  if (text !== said) console.log(`${new Date().toISOString()} ${(said = text)}`);
  return phase;
}

function configured(options: Readonly<Record<string, readonly object[]>>): object[] {
  const { spec } = deployment(SERVICES) as { spec: { services: { name: string }[] } };
  return spec.services.map((each) => (options[each.name] ? { ...each, configuration: options[each.name] } : each));
}
