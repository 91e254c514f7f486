import { expect, test } from "vitest";
import { textAt } from "../kernel/json.ts";
import { startClient } from "../testing-client.ts";

test("a PUT changes who enforces a QoS specification, and keeps its other keys", async () => {
  const { simulator, call, projectId } = await startClient({}, "admin");
  try {
    const path = `/volume/v3/${projectId}/qos-specs`;
    const made = await call("POST", path, { qos_specs: { name: "q", consumer: "front-end", iops: "5" } });
    const one = `${path}/${textAt(made.body, "qos_specs", "id") ?? ""}`;
    expect((await call("PUT", one, { qos_specs: { consumer: "back-end" } })).status).toBe(200);
    const shown = await call("GET", one);
    expect(shown.body).toMatchObject({ qos_specs: { consumer: "back-end", specs: { iops: "5" } } });
    expect((await call("PUT", one, { qos_specs: { consumer: "unknown" } })).status).toBe(400);
  } finally {
    await simulator.close();
  }
});
