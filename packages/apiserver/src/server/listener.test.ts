import { afterEach, expect, test } from "vitest";
import type { ApiServer } from "../interface.ts";
import { startApiServer } from "../start.ts";
import { rawClient } from "../testing/client.ts";

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((o) => o.close()));
});

test("HTTP/1.1 connections may stay idle for as long as Go's clients keep them", async () => {
  const server: ApiServer = await startApiServer();
  opened.push(server);
  const api = await rawClient(server.management);
  opened.push(api);
  expect((await api.call("GET", "/version")).headers["keep-alive"]).toBe("timeout=90");
});
