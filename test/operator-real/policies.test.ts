/** A cloud of real processes on a network that enforces its policies, and whose workers hang. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { podsOf, restarts, serviceAddress, statusOf } from "./cloud.ts";
import { record } from "./figures.ts";
import { freezeOnce } from "./outage.ts";
import { enforcePolicies, type Enforcement } from "./policies.ts";
import { TIMEOUT, startRig, volumes, type Rig } from "./rig.ts";
import { serviceCloud } from "./service-cloud.ts";
import { bootServer } from "./servers.ts";
import { restarted, seconds, whenReady } from "./whole-cloud.ts";

/** Workers with a prober, one of each service. */
const HANGING = ["cinder-scheduler", "cinder-volume", "heat-engine", "octavia-worker"];
/** The machines of the rig: a caller in their network is a node. */
const NODES = "10.211.0.0/24";

describe("a cloud of real processes whose policies are enforced", () => {
  let rig: Rig;
  let enforcement: Enforcement | undefined;

  beforeAll(async () => {
    rig = await startRig();
    const began = Date.now();
    enforcement = enforcePolicies(rig);
    rig.apply(volumes());
    rig.apply(serviceCloud({ network: { nodeNetworks: [NODES] } }));
    await whenReady(rig);
    record("from nothing to a cloud with Cinder, Barbican, Heat and Octavia, policies enforced", {
      secondsToReady: seconds(Date.now() - began),
      components: statusOf(rig).components?.length ?? 0,
      restarts: restarted(rig).length,
    });
  });

  afterAll(async () => {
    await enforcement?.stop();
    await rig?.close();
  });

  /** Opens a connection from inside a pod. */
  const reaches = async (component: string, target: string, port: number): Promise<boolean> => {
    const script = `exec 3<>/dev/tcp/${serviceAddress(rig, target)}/${port} && echo open`;
    for (const pod of podsOf(rig, component))
      for (const machine of rig.machines) {
        const container = await machine.container(pod, component);
        if (!container) continue;
        const said = await machine.runBeside(container, ["timeout", "5", "bash", "-c", script]).catch(() => "");
        return said.trim() === "open";
      }
    throw new Error(`no container of ${component} runs`);
  };

  test("starts, boots a server, and nothing that its processes requested was refused", async () => {
    const { status } = await bootServer(rig, "first");
    const { early, undeclared } = enforcement?.refused() ?? { early: [], undeclared: ["nothing is enforced"] };
    console.log(`refused before a policy or an address was known: ${early.join(", ")}`);
    expect(undeclared).toEqual([]);
    expect(status).toBe("ACTIVE");
  });

  test.each([
    ["keystone-api", "mariadb", 3306, true],
    ["nova-conductor", "rabbitmq", 5672, true],
    ["keystone-api", "rabbitmq", 5672, false],
    ["glance-api", "rabbitmq", 15_672, false],
    ["placement-api", "ovn-nb", 6641, false],
    ["memcached", "mariadb", 3306, false],
    ["nova-scheduler", "mariadb", 4567, false],
  ] as const)("lets a pod of %s reach %s at port %i: %s", async (from, to, port, isAllowed) => {
    expect(await reaches(from, to, port)).toBe(isAllowed);
    if (!isAllowed) expect(enforcement?.refused().undeclared).toContain(`${from} to ${to}:${port}`);
  });

  test("workers that hang are restarted, each of them, and nothing else", async () => {
    const before = restarts(rig);
    const pods = HANGING.map((component) => [component, podsOf(rig, component)[0] ?? ""] as const);
    const began = Date.now();
    for (const [component, pod] of pods) await freezeOnce(rig, component, pod);
    const isAgain = (pod: string) => (restarts(rig)[pod] ?? 0) > (before[pod] ?? 0);
    await eventually(TIMEOUT, () => pods.every(([, pod]) => isAgain(pod)));
    record(`${HANGING.join(", ")} hang`, { secondsToTheirRestart: seconds(Date.now() - began) });
    await whenReady(rig);
    const again = Object.entries(restarts(rig)).filter(([name, count]) => count > (before[name] ?? 0));
    expect(again.map(([name]) => name).toSorted()).toEqual(pods.map(([, pod]) => pod).toSorted());
  });
});
