/** The stock openstack client says the same of the simulated cloud as of the real one, command by command. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { suites as compute } from "./client/suites/compute.ts";
import { suites as identity } from "./client/suites/identity.ts";
import { suites as image } from "./client/suites/image.ts";
import { suites as keyManager } from "./client/suites/key-manager.ts";
import { suites as loadBalancing } from "./client/suites/load-balancing.ts";
import { suites as more } from "./client/suites/network-more.ts";
import { suites as network } from "./client/suites/network.ts";
import { suites as placement } from "./client/suites/placement.ts";
import { suites as shares } from "./client/suites/shares.ts";
import { suites as storage } from "./client/suites/storage.ts";
import { differencesOf } from "./client/differences.ts";
import { CloudClients, runSuite } from "./client/run.ts";

const realFile = process.env["OS_CLIENT_CONFIG_FILE"] ?? "/var/lib/devcloud/clouds.yaml";
const suites = [
  ...network,
  ...more,
  ...compute,
  ...identity,
  ...image,
  ...storage,
  ...shares,
  ...loadBalancing,
  ...keyManager,
  ...placement,
];

/**
 * What is compared unless CAUSEWAY_CLIENT_SUITES says otherwise: something of each service, in two minutes on a quiet
 * machine.
 */
const short: readonly string[] = [
  "security groups",
  "flavors",
  "the catalog and what is served",
  "images",
  "snapshots of volumes",
  "the cloud's own load balancing",
  "secrets",
  "placement",
];
/** "all": every suite; a suite's name: that one; "none": no suite. */
const wanted = process.env["CAUSEWAY_CLIENT_SUITES"];

describe("the stock openstack client sees one cloud", () => {
  let simulator: Simulator;
  let folder: string;
  let clouds: { readonly real: CloudClients; readonly simulated: CloudClients };

  beforeAll(async () => {
    simulator = await startSimulator();
    folder = mkdtempSync(join(tmpdir(), "causeway-client-"));
    const file = join(folder, "clouds.yaml");
    writeFileSync(file, simulator.cloudsYaml, { mode: 0o600 });
    clouds = {
      real: new CloudClients(realFile, process.env["OS_CLOUD"] ?? "devcloud"),
      simulated: new CloudClients(file, "simulator"),
    };
  });
  afterAll(async () => {
    await clouds.real.close();
    await clouds.simulated.close();
    await simulator.close();
    rmSync(folder, { recursive: true });
  });

  for (const suite of suites) {
    test(suite.name, { timeout: 1_200_000 }, async ({ skip }) => {
      const isWanted = wanted === undefined ? short.includes(suite.name) : [suite.name, "all"].includes(wanted);
      if (!isWanted) skip("of another choice of suites: CAUSEWAY_CLIENT_SUITES=all runs it");
      const prefix = () => `client${Math.random().toString(36).slice(2, 8)}`;
      const ours = await runSuite(clouds.simulated, suite, prefix());
      const real = await runSuite(clouds.real, suite, prefix());
      const { different, known } = differencesOf(real, ours);
      console.log(`${suite.name}: ${real.length} commands, ${different.length} differ, ${known.length} are known`);
      expect(different).toEqual([]);
    });
  }
});
