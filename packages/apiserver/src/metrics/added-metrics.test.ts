import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@causeway/foundation";
import { Brake } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { startApiServer } from "../start.ts";
import { rawClient } from "../testing/client.ts";

test.each([
  ["in one process", {}],
  ["with workers", { isolation: {} }],
])(
  "controllers in the process of a server %s count reconciles that do not converge under the management API's /metrics",
  async (_, options) => {
    const dir = mkdtempSync(join(tmpdir(), "added-metrics-"));
    const server = await startApiServer({ dir, ...options });
    const management = await rawClient(server.management);
    try {
      for (const name of ["machine", "openstackcluster"]) {
        const brake = new Brake({ clock: new VirtualClock(0), name, metrics: server.metrics });
        for (let i = 0; i < 4; i++) brake.performed({ namespace: "n", name: "a" }, { type: "x" });
      }
      const text = String((await management.call("GET", "/metrics")).body["text"]);
      for (const name of ["machine", "openstackcluster"])
        expect(text).toContain(`controller_runtime_reconcile_nonconverging_total{controller="${name}"} 1`);
    } finally {
      management.close();
      await server.close();
      rmSync(dir, { recursive: true, force: true });
    }
  },
);
