import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startDriver } from "@causeway/cinder-csi";
import { csiClient } from "@causeway/csi";
import { VirtualClock } from "@causeway/foundation";
import type { Outcome } from "./situations.ts";
import type { Stage } from "./stage.ts";

const MINUTES = 60;
const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

/**
 * Our driver in this process on a clock that is turned forward by an hour, second by second, as fast as the answers
 * come. Each minute its volumes are requested, as csi-attacher does.
 */
export async function virtualHour(stage: Stage): Promise<Outcome> {
  const dir = mkdtempSync(join(tmpdir(), "csi-"));
  const endpoint = `unix://${join(dir, "csi.sock")}`;
  const clock = new VirtualClock(Date.now());
  const cloudConf = () => readFileSync(stage.cloud.cloudConf, "utf8");
  const driver = await startDriver({ endpoint, version: "bench", services: ["controller"], cloudConf, clock });
  const client = csiClient(endpoint);
  try {
    await client.controller.listVolumes({});
    const before = process.cpuUsage();
    const figures = await stage.measure(async () => {
      for (let minute = 0; minute < MINUTES; minute += 1) {
        for (let second = 0; second < 60; second += 1) {
          await clock.advance(1000);
          await pause(1);
        }
        await client.controller.listVolumes({});
      }
      return MINUTES * 60;
    });
    const { user, system } = process.cpuUsage(before);
    const cpuSeconds = (user + system) / 1e6;
    const memoryMiB = process.memoryUsage.rss() / 1024 / 1024;
    return {
      figures: { ...figures, cpuSeconds, memoryMiB },
      note: "ours: with the cloud and the other side's in the same process; upstream: as in the row before",
    };
  } finally {
    client.close();
    await driver.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
