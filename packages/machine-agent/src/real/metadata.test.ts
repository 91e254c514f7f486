import { expect, test } from "vitest";
import { serveMetadata } from "./metadata.ts";

const machine = {
  id: "6c1f2a64-0f0e-4c3e-9a51-0d9f1e0d7a10",
  name: "worker-1",
  userData: "",
  zone: "nova",
  addresses: [],
  resources: { cpu: 1, memoryMiB: 2048, diskGiB: 20 },
};

test("a machine's programs read its server's ID and zone from its metadata, and nothing else", async () => {
  const ending = new AbortController();
  const port = await serveMetadata(machine, { address: "127.0.0.1", port: 0 }, ending.signal);
  const read = (path: string) => fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: "close" } });
  const answer = await read("/openstack/latest/meta_data.json");
  expect(await answer.json()).toMatchObject({ uuid: machine.id, availability_zone: "nova", hostname: "worker-1" });
  expect((await read("/openstack/latest/user_data")).status).toBe(404);
  ending.abort();
  await expect(read("/openstack/latest/meta_data.json")).rejects.toThrow("fetch failed");
});
