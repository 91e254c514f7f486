/** The stock openstack client says the same of the simulated cloud as of the real one, command by command. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { chapters as compute } from "./client/chapters/compute.ts";
import { chapters as identity } from "./client/chapters/identity.ts";
import { chapters as image } from "./client/chapters/image.ts";
import { chapters as keyManager } from "./client/chapters/key-manager.ts";
import { chapters as loadBalancing } from "./client/chapters/load-balancing.ts";
import { chapters as more } from "./client/chapters/network-more.ts";
import { chapters as network } from "./client/chapters/network.ts";
import { chapters as placement } from "./client/chapters/placement.ts";
import { chapters as shares } from "./client/chapters/shares.ts";
import { chapters as storage } from "./client/chapters/storage.ts";
import { differencesOf } from "./client/differences.ts";
import { CloudClients, runChapter } from "./client/run.ts";

const realFile = process.env["OS_CLIENT_CONFIG_FILE"] ?? "/var/lib/devcloud/clouds.yaml";
const chapters = [
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
 * What is compared unless CAUSEWAY_CLIENT_CHAPTERS says otherwise: something of each service, in two minutes on a quiet
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
/** "all": every chapter; a chapter's name: that one; "none": no chapter. */
const wanted = process.env["CAUSEWAY_CLIENT_CHAPTERS"];

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

  for (const chapter of chapters) {
    test(chapter.name, { timeout: 1_200_000 }, async ({ skip }) => {
      const isWanted = wanted === undefined ? short.includes(chapter.name) : [chapter.name, "all"].includes(wanted);
      if (!isWanted) skip("of another choice of chapters: CAUSEWAY_CLIENT_CHAPTERS=all runs it");
      const prefix = () => `client${Math.random().toString(36).slice(2, 8)}`;
      const ours = await runChapter(clouds.simulated, chapter, prefix());
      const real = await runChapter(clouds.real, chapter, prefix());
      const { different, excused } = differencesOf(real, ours);
      console.log(
        `${chapter.name}: ${real.length} commands, ${different.length} differ, ${excused.length} are excused`,
      );
      expect(different).toEqual([]);
    });
  }
});
