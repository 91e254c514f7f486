import type { KubernetesClient } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { findRecord, readRecord } from "./record.ts";

const { signal } = new AbortController();
const clientOf = (list: () => Promise<unknown>) => ({ list }) as unknown as KubernetesClient;

test("a cluster without a record has none, and a list that fails is no such answer", async () => {
  const none = clientOf(() => Promise.resolve({ items: [] }));
  expect(await findRecord(none, "web", signal)).toBeUndefined();
  await expect(readRecord(none, "web", signal)).rejects.toMatchObject({ code: "MIGRATE_NOT_DISCOVERED" });
  const away = clientOf(() => Promise.reject(new Error("the server is away")));
  await expect(findRecord(away, "web", signal)).rejects.toThrow("the server is away");
});
