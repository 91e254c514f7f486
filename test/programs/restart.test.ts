/** What client-go's reflectors do over a restart of our server: they continue where they were. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApiServer } from "@causeway/apiserver";
import { describe, expect, test } from "vitest";
import { programs } from "./programs.ts";
import { launch } from "./run.ts";

const { probe } = programs();

describe("the probe over a restart", () => {
  if ("reason" in probe) {
    test.skip(`reflectors (${probe.reason})`);
    return;
  }
  test.for(["false", "true"])("reflectors continue, watch lists: %s", async (watchLists) => {
    const dir = mkdtempSync(join(tmpdir(), "restart-"));
    let server = await startApiServer({ dir: join(dir, "state") });
    const kubeconfig = join(dir, "kubeconfig");
    writeFileSync(kubeconfig, await server.management.kubeconfig(), { mode: 0o600 });
    const args = ["-kubeconfig", kubeconfig, "-group", "resume"];
    const running = launch(join(probe.dir, "probe"), args, { env: { KUBE_FEATURE_WatchListClient: watchLists } });
    try {
      await running.until(/^watching$/m);
      await server.close();
      server = await startApiServer({ dir: join(dir, "state") });
      running.write("restarted\n");
      const { stdout } = await running.ended;
      expect(stdout).toMatch(/^ok a reflector/m);
    } finally {
      await running.stop();
      await server.close();
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
