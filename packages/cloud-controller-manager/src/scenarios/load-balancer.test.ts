import { afterEach, describe, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { startSimulator, type CallRecord, type Simulator, type SimulatorOptions } from "@causeway/simulator";
import { loadCloudsYaml } from "@causeway/openstack";
import { World } from "../testing/world.ts";

let world: World | undefined;
let simulator: Simulator | undefined;

afterEach(async () => {
  await world?.close();
  await simulator?.close();
  world = simulator = undefined;
});

interface Started {
  readonly w: World;
  readonly cloud: Simulator;
  /** Calls that write, and reads of single objects or of one object's parts, since the last time this was asked. */
  readonly work: () => string[];
}

async function started(servers = 3, options: SimulatorOptions = {}): Promise<Started> {
  const cloud = (simulator = await startSimulator({ profile: "instant", ...options }));
  const config = loadCloudsYaml({ text: cloud.cloudsYaml, cloud: "simulator" });
  const server = await startApiServer();
  const intervals = { fast: 20, fastest: 20, slow: 500 };
  const w = (world = await World.start({ server, config, prefix: "c", servers, intervals }));
  let seen = 0;
  const work = () => {
    const calls = cloud.calls
      .slice(seen)
      .filter((c) => isWork(c))
      .map((c) => `${c.method} ${c.path.split("?")[0]}`);
    seen = cloud.calls.length;
    return calls.map((call) =>
      call.replaceAll(/[0-9a-f-]{36}/g, "ID").replace(/^(\w+) (?:\/v2(?:\.0)?|\/lbaas|\/v2\/lbaas)+/, "$1 "),
    );
  };
  return { w, cloud, work };
}

function isWork(call: CallRecord): boolean {
  if (call.path.includes("/auth/tokens")) return false;
  return call.method !== "GET" || /[0-9a-f]{8}-[0-9a-f-]{27}/.test(call.path.split("?")[0] ?? "");
}

describe("a Service of type LoadBalancer on OVN", () => {
  test("gets one load balancer by one POST, a floating IP, and leaves nothing", async () => {
    const { w, cloud, work } = await started();
    const before = cloud.inventory("demo");
    w.run({ provider: "ovn" });
    await w.joinAll();
    work();
    await w.createService("web", {
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 443 },
      ],
    });
    const service = await w.served("web");
    console.log(service.status, service.metadata.annotations, work());
    console.log(await w.members());
    console.log(await w.eventsOf("web"));
    await w.remove("web");
    console.log(work());
    expect(cloud.inventory("demo")).toEqual(before);
  });
});
