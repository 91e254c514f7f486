import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { causeway, eventually } from "./processes.ts";
import { entriesOf, type OpenedCloud } from "./suite-cloud.ts";

/** How long it may take to start on a machine that is busy. */
const STARTUP = 300_000;

/**
 * The simulated cloud of `causeway up`, with these flags, in a process of its own: with the Magnum API in its catalog,
 * and machines and hosted control planes behind it.
 */
export async function openSystemCloud(flags: readonly string[] = []): Promise<OpenedCloud> {
  const dir = mkdtempSync(join(tmpdir(), "causeway-suite-"));
  const system = causeway(["up", "--state", dir, ...flags]);
  const close = async (): Promise<void> => {
    await system.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const file = join(dir, "clouds.yaml");
    await eventually(STARTUP, () => existsSync(file));
    const text = readFileSync(file, "utf8");
    const cloud = entriesOf("simulator", text);
    await eventually(STARTUP, () => hasMagnum(loadCloudsYaml({ cloud: cloud.cloud, text })));
    return { cloud, recordAs: "simulated", close };
  } catch (error) {
    await close();
    throw new Error(`causeway up did not start; it printed:\n${system.output()}`, { cause: error });
  }
}

async function hasMagnum(config: Parameters<typeof connectCloud>[0]): Promise<boolean> {
  const cloud = connectCloud(config);
  try {
    const [service] = await cloud.identity.services.all({ type: "container-infra" });
    return service !== undefined && (await cloud.identity.endpoints.all({ service_id: service.id })).length === 3;
  } finally {
    await cloud.close();
  }
}
