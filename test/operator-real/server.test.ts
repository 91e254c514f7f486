/** A whole cloud of real processes, from nothing to a server that is ACTIVE on an OVN network, and its maintenance. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { serviceAddress, statusOf } from "./cloud.ts";
import { record } from "./figures.ts";
import { startedTooSoon } from "./order.ts";
import { incompleteLines } from "./outage.ts";
import { commandsUse, probersUsed } from "./probe-cost.ts";
import { TIMEOUT, type Rig } from "./rig.ts";
import { bootServer, computesUp, makeImageAndFlavor, namesNow, serverNow } from "./servers.ts";
import { COMPUTE, CONTROL, restarted, seconds, startWholeCloud, wholeCloud, whenReady } from "./whole-cloud.ts";

/** From nothing to a server. */
const LIMIT = 5 * 60_000;

describe("a cloud of real processes with Nova and Neutron", () => {
  let rig: Rig;
  let readyAfter: number;
  let activeAfter: number;

  beforeAll(async () => {
    ({ rig, readyAfter } = await startWholeCloud());
  });

  afterAll(async () => {
    await rig?.close();
  });

  test("brings a server to ACTIVE on an OVN network, from nothing, with no restart of any container", async () => {
    const began = Date.now();
    const server = await bootServer(rig, "first");
    activeAfter = readyAfter + Date.now() - began;
    record("from nothing to a server that is ACTIVE, two machines, size Tiny", {
      secondsToReady: seconds(readyAfter),
      secondsToServer: seconds(activeAfter),
      components: statusOf(rig).components?.length ?? 0,
      restarts: restarted(rig).length,
    });
    expect(server.status).toBe("ACTIVE");
    expect(restarted(rig)).toEqual([]);
    const ports = ["ovn-nbctl", "--no-leader-only", "lsp-list", `neutron-${server.network}`];
    expect(await rig.inContainer("cloud-ovn-nb-0", "ovn-nb", ...ports)).toContain(server.port);
    expect(await computesUp(rig)).toEqual(expect.arrayContaining([CONTROL, COMPUTE]));
  });

  test("started no process before all that it needs was ready", () => {
    const { tooSoon, compared } = startedTooSoon(rig);
    expect(tooSoon).toEqual([]);
    expect(compared).toBeGreaterThan(80);
  });

  test("asks every process by its probe at less than a twentieth of a processor for all", async () => {
    const before = await probersUsed(rig);
    await new Promise((resolve) => setTimeout(resolve, 60_000));
    const after = await probersUsed(rig);
    const share = (after.seconds - before.seconds) / 60;
    record("probers over AMQP", { probers: after.probers, percentOfAProcessor: Math.round(share * 10_000) / 100 });
    expect(after.probers).toBeGreaterThanOrEqual(5);
    const commands = await commandsUse(rig);
    record("commands of probes", {
      commands: commands.commands,
      perMinute: Math.round(commands.perMinute),
      percentOfAProcessor: Math.round(commands.share * 10_000) / 100,
    });
    expect(commands.commands).toBeGreaterThan(10);
    expect(share + commands.share).toBeLessThan(0.05);
  });

  test("moves the servers of a compute node that is drained by live migration, and takes it back after it", async () => {
    const server = await bootServer(rig, "moved", COMPUTE);
    expect(server.status).toBe("ACTIVE");
    const began = Date.now();
    rig.kubectl("drain", COMPUTE, "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=2700s");
    record("drain of a compute node with a server, by live migration", { seconds: seconds(Date.now() - began) });
    expect(await serverNow(rig, server.id)).toEqual({ status: "ACTIVE", host: CONTROL });
    rig.kubectl("uncordon", COMPUTE);
    await eventually(TIMEOUT, async () => (await computesUp(rig)).includes(COMPUTE));
  });

  test("runs the canary, which boots a server and leaves nothing, and its metrics say so", async () => {
    await makeImageAndFlavor(rig, "canary");
    const canary = { image: "canary", flavor: "canary", everySeconds: 60, timeoutSeconds: 300 };
    rig.apply(wholeCloud({}, { canary }));
    await whenReady(rig);
    const began = Date.now();
    const metrics = () =>
      rig.inNetwork("curl", "-s", "-m", "10", `http://${serviceAddress(rig, "canary")}:9180/metrics`);
    let text = "";
    await eventually(TIMEOUT, async () => (text = await metrics()).match(/runs_total\{[^}]*\} [1-9]/) !== null);
    record("first run of the canary, from its pod being ready", { seconds: seconds(Date.now() - began) });
    expect(text).toMatch(/causeway_canary_runs_total\{deployment="default\/cloud",result="success"\} 1/);
    expect(text).toMatch(/causeway_canary_failed\{[^}]*phase="boot"\} 0/);
    const { servers, networks } = await namesNow(rig);
    expect([...servers, ...networks]).not.toContain("causeway-canary");
  });

  test("writes every line of the logs of all services as one JSON object with time, level, service, host and message", () => {
    expect(incompleteLines(rig)).toEqual([]);
  });

  // The last one: on a machine that other work shares the rest is to be seen all the same.
  test("had that server within five minutes of the deployment's creation", () => {
    expect(activeAfter).toBeLessThan(LIMIT);
  });
});
