/** The examples of the SDK's README, run as a person runs them: the page shows the very files. */
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { TIMEOUT } from "../support/processes.ts";

// Processes start slowly next to others on a busy machine.
vi.setConfig({ testTimeout: TIMEOUT, hookTimeout: TIMEOUT });

const folder = join(import.meta.dirname, "../../packages/openstack/src/examples");
const state = mkdtempSync(join(tmpdir(), "causeway-examples-"));
let simulator: Simulator;
let cloud: Cloud;

beforeAll(async () => {
  simulator = await startSimulator({ profile: "instant" });
  writeFileSync(join(state, "clouds.yaml"), simulator.cloudsYaml, { mode: 0o600 });
  cloud = connectCloud(loadCloudsYaml({ text: simulator.cloudsYaml, cloud: "simulator" }));
});
afterAll(async () => {
  await cloud.close();
  await simulator.close();
  rmSync(state, { recursive: true });
});

async function run(example: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, OS_CLIENT_CONFIG_FILE: join(state, "clouds.yaml"), OS_CLOUD: "simulator" };
  const options = { env, timeout: 60_000 };
  return (await promisify(execFile)(process.execPath, [join(folder, example), ...args], options)).stdout;
}

test.each(readdirSync(folder))("the example %s is in the README word for word", (file) => {
  const readme = readFileSync(join(folder, "../../README.md"), "utf8");
  expect(readme).toContain("```ts\n" + readFileSync(join(folder, file), "utf8") + "```");
});

describe("an example", () => {
  test("makes a network once, however often it is run", async () => {
    const [first, second] = [await run("create-network.ts", "once"), await run("create-network.ts", "once")];
    const networks = await cloud.network.networks.all({ name: "once" });
    expect(networks.map(({ id }) => `${id}\n`)).toEqual([first]);
    expect(second).toBe(first);
    expect(networks[0]?.subnets).toHaveLength(1);
  });

  test("lists servers with their addresses", async () => {
    const network = await cloud.network.networks.create({ name: "for-servers" });
    await cloud.network.subnets.create({ network_id: network.id, name: "s", ip_version: 4, cidr: "10.21.0.0/24" });
    const [flavor] = await cloud.compute.flavors.all();
    const [image] = await cloud.image.images.all();
    await cloud.compute.servers.create({
      name: "listed",
      flavorRef: flavor?.id ?? "",
      imageRef: image?.id ?? "",
      networks: [{ uuid: network.id }],
    });
    expect(await run("list-servers.ts")).toMatch(/^listed ACTIVE 10\.21\.0\.\d+$/m);
  });

  test("prints ports until the one it waits for is there", async () => {
    const network = await cloud.network.networks.create({ name: "for-ports" });
    const output = run("wait-for-port.ts", "awaited");
    await cloud.network.ports.create({ name: "awaited", network_id: network.id });
    expect(await output).toMatch(/^added awaited \w+$/m);
  });

  test("reads its credentials so that they may be rotated", async () => {
    expect(await run("rotating-credentials.ts")).toMatch(/^simulator: \d+ networks$/m);
  });
});
