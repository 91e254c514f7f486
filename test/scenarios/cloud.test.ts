/** `causeway cloud`: a simulated OpenStack for a person's own client, which keeps what is in it. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { TIMEOUT, causeway } from "../support/processes.ts";

// Processes start slowly next to others on a busy machine.
vi.setConfig({ testTimeout: TIMEOUT, hookTimeout: TIMEOUT });

const state = mkdtempSync(join(tmpdir(), "causeway-cloud-"));
afterAll(() => rmSync(state, { recursive: true, force: true }));

async function started() {
  const process = causeway(["cloud", "--state", state, "-o", "json"]);
  const output = await process.until(/^\}$/m);
  const [document = ""] = /^\{$[^]*?^\}$/m.exec(output) ?? [];
  return { process, ready: JSON.parse(document) as { cloudsYaml: string; clouds: string[] } };
}

test("a cloud starts alone, prints its addresses, stops, and starts again with its contents", async () => {
  const first = await started();
  expect(first.ready.clouds).toEqual(["simulator-admin", "simulator", "simulator-alt", "simulator-reader"]);
  expect(statSync(first.ready.cloudsYaml).mode & 0o777).toBe(0o600);
  const connect = () => connectCloud(loadCloudsYaml({ cloud: "simulator", path: first.ready.cloudsYaml }));
  let cloud = connect();
  const network = await cloud.network.networks.create({ name: "kept" });
  await cloud.close();
  expect(await first.process.stop()).toBe(130);
  const second = await started();
  cloud = connect();
  expect((await cloud.network.networks.all({ name: "kept" })).map((n) => n.id)).toEqual([network.id]);
  await cloud.close();
  const twice = causeway(["cloud", "--state", state]);
  expect(await twice.ended).toBe(2);
  expect(twice.output()).toContain("STATE_IN_USE");
  await second.process.stop();
});
